"""Backfills in admin: looked at, and cancelled. They are begun on the page of their job, which counts them first."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs import actions
from jobs.admin.outcomes import act_on_each
from jobs.admin.readonly import ReadOnlyAdmin, moment
from jobs.models import Backfill
from jobs.progress import progress_of


@admin.register(Backfill)
class BackfillAdmin(ReadOnlyAdmin):
    list_display = (
        "id", "job", "status", moment("first_at", "first"), moment("last_at", "last"), "dates", "made", "concurrency",
        "created_by",
    )  # fmt: skip
    list_filter = ("status", "created_by")
    list_select_related = ("job",)
    search_fields = ("job__name",)
    ordering = ("-id",)
    readonly_fields = ("progress",)
    actions = ("cancel",)

    @admin.display(description="progress")
    def progress(self, backfill: Backfill) -> str:
        return progress_of(backfill).sentence

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("jobs.change_backfill")

    @admin.action(description="Cancel, with all of its instances that have not ended", permissions=["operate"])
    def cancel(self, request: HttpRequest, backfills: QuerySet[Backfill]) -> None:
        ids = list(backfills.order_by("pk").values_list("pk", flat=True))
        done = "{} backfill{s} cancelled"
        act_on_each(request, ids, actions.cancel_backfill, done, counts=lambda answer: bool(answer.changed))
