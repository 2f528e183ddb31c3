"""Instances in admin: looked at, cancelled, retried."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from jobs.admin.bulk_instances import cancel_many, retry_many
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

    @admin.action(description="Cancel…", permissions=["operate"])
    def cancel(self, request: HttpRequest, instances: QuerySet[Instance]) -> HttpResponse | None:
        return cancel_many(self, request, instances)

    @admin.action(description="Retry…", permissions=["operate"])
    def retry(self, request: HttpRequest, instances: QuerySet[Instance]) -> HttpResponse | None:
        return retry_many(self, request, instances)
