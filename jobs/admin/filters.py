"""Filters of admin's lists that Django has none for."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs.api.pages import all_tags, tagged
from jobs.models import Event, Job

MOST_TAGS = 200  # in the filter's list; by its address any can be asked for

# All of docs/events.md. Asking the table which there are would read all of its rows.
EVENT_KINDS = (
    "job.created", "job.changed", "job.paused", "job.resumed", "job.delete_requested", "job.deleted",
    "schedule.skipped", "schedule.flagged", "schedule.reanchored",
    "instance.pending", "instance.queued", "instance.held", "instance.started", "attempt.began",
    "instance.cancel_requested", "instance.retrying", "instance.requeued", "instance.ended", "instance.deleted",
    "calendar.created", "calendar.changed", "calendar.deleted",
    "limit.changed", "secret.changed", "node.started", "node.changed", "node.stopped", "clock.changed",
    "backfill.created", "backfill.ended", "history.pruned",
)  # fmt: skip


class EventKindFilter(admin.SimpleListFilter):
    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - Django's
        return [(kind, kind) for kind in EVENT_KINDS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Event]) -> QuerySet[Event]:  # noqa: ARG002 - Django's
        return queryset.filter(kind=self.value()) if self.value() else queryset


class TagFilter(admin.SimpleListFilter):
    title = "tag"
    parameter_name = "tag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - Django's
        return [(tag, tag) for tag in all_tags(MOST_TAGS)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Job]) -> QuerySet[Job]:  # noqa: ARG002 - Django's
        wanted = self.value()
        return tagged(queryset, wanted) if wanted else queryset
