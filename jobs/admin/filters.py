"""Filters of admin's lists that Django has none for."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs.models import Event, Job

# All of docs/events.md. Asking the table which there are would read all of its rows.
EVENT_KINDS = (
    "job.created", "job.changed", "job.paused", "job.resumed", "job.deleted", "schedule.skipped", "schedule.flagged",
    "instance.pending", "instance.queued", "instance.held", "instance.started", "attempt.began",
    "instance.cancel_requested", "instance.retrying", "instance.requeued", "instance.ended", "instance.deleted",
    "node.started", "node.changed", "node.stopped",
)  # fmt: skip


class EventKindFilter(admin.SimpleListFilter):
    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - Django's
        return [(kind, kind) for kind in EVENT_KINDS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Event]) -> QuerySet[Event]:  # noqa: ARG002 - Django's
        return queryset.filter(kind=self.value()) if self.value() else queryset


class TagFilter(admin.SimpleListFilter):
    """Tags are a JSON list, in which SQLite cannot look for one: there are few jobs, so they are read."""

    title = "tag"
    parameter_name = "tag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002 - Django's
        return [(tag, tag) for tag in sorted({tag for tags in _tags().values() for tag in tags})]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Job]) -> QuerySet[Job]:  # noqa: ARG002 - Django's
        wanted = self.value()
        if not wanted:
            return queryset
        return queryset.filter(pk__in=[pk for pk, tags in _tags().items() if wanted in tags])


def _tags() -> dict[int, list[str]]:
    return dict(Job.objects.exclude(tags=[]).values_list("pk", "tags"))
