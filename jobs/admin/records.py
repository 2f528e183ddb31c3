"""What the engine writes, to be looked at: attempts, events, nodes."""

from __future__ import annotations

from django.contrib import admin

from jobs.admin.filters import EventKindFilter
from jobs.admin.readonly import ReadOnlyAdmin
from jobs.models import Attempt, Event, Node


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    list_display = ("id", "instance_id", "number", "status", "outcome", "node", "started_at", "ended_at", "exit_code")
    list_filter = ("status", "outcome", "node")
    list_select_related = ("node",)
    search_fields = ("=instance__id", "=token")
    ordering = ("-id",)


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ("id", "at", "kind", "job_id", "instance_id", "from_status", "to_status", "actor")
    list_filter = (EventKindFilter,)
    search_fields = ("=instance_id", "=job_id", "=kind", "=actor")
    ordering = ("-id",)


@admin.register(Node)
class NodeAdmin(ReadOnlyAdmin):
    list_display = (
        "name", "cores", "overcommit", "memory_mb", "incarnation", "version", "heartbeat_at", "stopped_at",
        "admission_stopped",
    )  # fmt: skip
    list_filter = (("admission_stopped", admin.EmptyFieldListFilter), "version")
    search_fields = ("name", "host_name", "=uuid")
    ordering = ("name",)
