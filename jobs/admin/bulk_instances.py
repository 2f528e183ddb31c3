"""The page between ticking instances and cancelling, retrying or deleting them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib.admin import ModelAdmin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from jobs import actions
from jobs.actions.instances import WHEN_CANCELLED
from jobs.admin.bulk import Change, Row
from jobs.admin.choosing import chosen_of, is_second_click, page_of
from jobs.admin.outcomes import act_on_each
from jobs.core.states import LIVE, Status
from jobs.models import Instance


def cancel_many(admin: ModelAdmin[Instance], request: HttpRequest, ticked: QuerySet[Instance]) -> HttpResponse | None:
    done = "{} instance{s} cancelled or being stopped"
    return _ask_or_act(
        admin,
        request,
        ticked,
        action="cancel",
        rows=cancelled,
        act=lambda ids: act_on_each(request, ids, actions.cancel_instance, done, counts=_was_live),
    )


def retry_many(admin: ModelAdmin[Instance], request: HttpRequest, ticked: QuerySet[Instance]) -> HttpResponse | None:
    return _ask_or_act(
        admin,
        request,
        ticked,
        action="retry",
        rows=retried,
        act=lambda ids: act_on_each(request, ids, actions.retry_instance, "{} instance{s} retried", counts=_is_new),
    )


def delete_many(admin: ModelAdmin[Instance], request: HttpRequest, ticked: QuerySet[Instance]) -> HttpResponse | None:
    return _ask_or_act(
        admin,
        request,
        ticked,
        action="delete_ended",
        rows=deleted,
        act=lambda ids: act_on_each(request, ids, _deleted_one, "{} instance{s} deleted"),
    )


def cancelled(ids: Iterable[int]) -> list[Row]:
    """What cancelling would do to each."""
    return [_cancelled(instance) for instance in _read(ids)]


def retried(ids: Iterable[int]) -> list[Row]:
    """What retrying would do to each."""
    ids = list(ids)
    found = Instance.objects.filter(retry_of__in=ids, status__in=LIVE).order_by("-pk")
    under_way = dict(found.values_list("retry_of_id", "pk"))
    return [_retried(instance, under_way.get(instance.pk)) for instance in _read(ids)]


def deleted(ids: Iterable[int]) -> list[Row]:
    """What deleting would do to each."""
    return [_deleted(instance) for instance in _read(ids)]


def _ask_or_act(
    admin: ModelAdmin[Instance],
    request: HttpRequest,
    ticked: QuerySet[Instance],
    *,
    action: str,
    rows: Callable[[Iterable[int]], list[Row]],
    act: Callable[[Iterable[int]], None],
) -> HttpResponse | None:
    chosen = chosen_of(request, ticked)
    if chosen is None:
        return None
    if request.POST.get("step") == "apply":
        if not is_second_click(request):
            act(chosen)
        return None
    context: dict[str, Any] = {
        **admin.admin_site.each_context(request),
        **page_of(rows(chosen), action),
        "title": "What this changes",
        "opts": admin.opts,
        "step": "preview",
    }
    return TemplateResponse(request, "admin/jobs/bulk.html", context)


def _read(ids: Iterable[int]) -> QuerySet[Instance]:
    rows = Instance.objects.filter(pk__in=list(ids)).select_related("job").order_by("-pk")
    return rows.only("status", "logical_at", "cancel_requested_at", "job__name", "job__execution_model")


def _cancelled(instance: Instance) -> Row:
    label = _label(instance)
    if instance.status not in LIVE:
        return Row(instance.pk, label, (), (f"It has ended already ({instance.status}) and stays as it is.",))
    if instance.status != Status.RUNNING:
        return Row(instance.pk, label, (Change("status", instance.status, "cancelled"),))
    if instance.cancel_requested_at:
        return Row(instance.pk, label, (), ("It is being stopped already.",))
    stopping = f"being stopped, and cancelled {WHEN_CANCELLED[instance.job.execution_model]}"
    return Row(instance.pk, label, (Change("status", "running", stopping),))


def _retried(instance: Instance, under_way: int | None) -> Row:
    label = _label(instance)
    if instance.status in LIVE:
        return Row(instance.pk, label, (), (f"It is {instance.status}; cancel it first, or wait until it ends.",))
    if under_way:
        return Row(instance.pk, label, (), (f"Instance {under_way} is its retry and has not ended.",))
    return Row(
        instance.pk, label, (Change("retry", "", f"a new instance for {instance.logical_at:%Y-%m-%d %H:%M %Z}"),)
    )


def _deleted(instance: Instance) -> Row:
    label = _label(instance)
    if instance.status in LIVE:
        return Row(instance.pk, label, (), (f"It is {instance.status}; cancel it first, or wait until it ends.",))
    return Row(instance.pk, label, (Change("history", instance.status, "deleted, with its attempts and its log"),))


def _deleted_one(instance_id: int, **act: Any) -> bool:
    actions.delete_instance(instance_id, **act)
    return True


def _label(instance: Instance) -> str:
    return f"{instance.pk} · {instance.job.name}"


def _was_live(answer: actions.Cancelled) -> bool:
    return answer.answer != "ended"


def _is_new(answer: actions.Submitted) -> bool:
    return answer.is_new
