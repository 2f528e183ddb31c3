"""Instances in admin: looked at, cancelled, retried."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs import actions
from jobs.admin.outcomes import act_on_each
from jobs.admin.readonly import ReadOnly, ReadOnlyAdmin
from jobs.models import Attempt, Instance


class AttemptInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]  # no generic at run time
    model = Attempt
    fields = (
        "number", "status", "outcome", "node", "cores", "virtual_cores", "started_at", "ended_at", "exit_code", "error",
    )  # fmt: skip
    ordering = ("number",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Attempt]:
        found: QuerySet[Attempt] = super().get_queryset(request)
        return found.select_related("node")


@admin.register(Instance)
class InstanceAdmin(ReadOnlyAdmin):
    list_display = (
        "id", "job", "status", "cause", "due_at", "started_at", "ended_at", "exit_code", "attempt_count", "node",
    )  # fmt: skip
    list_display_links = ("id",)
    list_filter = ("status", "cause", "node")
    list_select_related = ("job", "node")
    search_fields = ("=id", "job__name", "error")
    ordering = ("-id",)
    inlines = (AttemptInline,)
    actions = ("cancel", "retry")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Instance]:
        found: QuerySet[Instance] = super().get_queryset(request)
        return found.defer("job__body", "job__environment", "job__description")

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("jobs.change_instance")

    @admin.action(description="Cancel", permissions=["operate"])
    def cancel(self, request: HttpRequest, instances: QuerySet[Instance]) -> None:
        done = "{} instances cancelled or being stopped"
        act_on_each(request, ids_of(instances), actions.cancel_instance, done, counts=was_live)

    @admin.action(description="Retry", permissions=["operate"])
    def retry(self, request: HttpRequest, instances: QuerySet[Instance]) -> None:
        act_on_each(request, ids_of(instances), actions.retry_instance, "{} retries submitted", counts=is_new)


def ids_of(instances: QuerySet[Instance]) -> list[int]:
    return list(instances.order_by("pk").values_list("pk", flat=True))


def was_live(answer: Any) -> bool:
    return bool(answer.answer != "ended")


def is_new(answer: Any) -> bool:
    return bool(answer.is_new)
