"""What the engine writes, to be looked at: attempts, events, nodes."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from jobs import actions
from jobs.admin.filters import EventKindFilter
from jobs.admin.readonly import ReadOnlyAdmin, moment
from jobs.models import Attempt, Event, Node

TIMES = (moment("started_at", "started"), moment("ended_at", "ended"))


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    list_display = ("id", "instance_id", "number", "status", "outcome", "node", *TIMES, "exit_code")
    list_filter = ("status", "outcome", "node")
    list_select_related = ("node",)
    search_fields = ("=instance__id", "=token")
    ordering = ("-id",)


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ("id", moment("at", "at"), "kind", "job_id", "instance_id", "from_status", "to_status", "actor")
    list_filter = (EventKindFilter,)
    search_fields = ("=instance_id", "=job_id", "=kind", "=actor")
    ordering = ("-id",)


@admin.register(Node)
class NodeAdmin(ReadOnlyAdmin):
    list_display = (
        "name", "cores", "overcommit", "memory_mb", "incarnation", "version", "heartbeat_at", "stopped_at",
        "drained_at", "admission_stopped",
    )  # fmt: skip
    list_filter = (
        ("drained_at", admin.EmptyFieldListFilter),
        ("admission_stopped", admin.EmptyFieldListFilter),
        "version",
    )
    search_fields = ("name", "host_name", "=uuid")
    ordering = ("name",)
    actions = ("drain", "undrain")

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("jobs.change_node")

    @admin.action(description="Drain: start nothing new, let what runs end", permissions=["operate"])
    def drain(self, request: HttpRequest, nodes: QuerySet[Node]) -> None:
        _change_each(request, nodes, actions.drain_node, "starts nothing new", "start nothing new")

    @admin.action(description="Undrain: take work again", permissions=["operate"])
    def undrain(self, request: HttpRequest, nodes: QuerySet[Node]) -> None:
        _change_each(request, nodes, actions.undrain_node, "takes work", "take work")


def _change_each(
    request: HttpRequest, nodes: QuerySet[Node], change: Callable[..., actions.NodeChanged], does: str, do: str
) -> None:
    actor, now = request.user.get_username(), timezone.now()
    done = sum(change(pk, actor=actor, now=now).changed for pk in nodes.values_list("pk", flat=True))
    said = f"1 node {does}" if done == 1 else f"{done} nodes {do}"
    messages.success(request, f"{said} from now on.")
