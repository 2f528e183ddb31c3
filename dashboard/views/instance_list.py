"""The list of instances, and what may be done to many of them at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard import operations
from dashboard.acts import ACTS, INSTANCE, JOB, acts_on
from dashboard.filters import WITHIN, InstanceFilter, filter_in, read_cursor, read_filter, whole_number, with_cursor
from dashboard.models import BulkOperation
from dashboard.once import new_mark, once
from dashboard.presentation import looks
from dashboard.presentation.instance_list import proposals
from dashboard.presentation.looks import Look
from dashboard.views.acting import acted, actor_of
from dashboard.views.pages import live_page
from dashboard.views.selection import list_of
from jobs.core.states import Status


@dataclass(frozen=True, slots=True)
class FilterField:
    """One input of the filter. `options` are proposals, or for a choice pairs of value and word."""

    name: str
    label: str
    value: str
    error: str
    kind: str = "text"
    options: Any = ()
    hint: str = ""


@dataclass(frozen=True, slots=True)
class StatusChoice:
    value: str
    look: Look
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class TallyLine:
    look: Look
    shown: str


@require_safe
@login_required
def instance_list(request: HttpRequest) -> HttpResponse:
    wanted, cursor = read_filter(request.GET), read_cursor(request.GET)
    toggled = request.GET.get("toggle", "")
    if toggled in [status.value for status in Status]:  # with what was typed beside it, which a link would lose
        return redirect(f"{reverse('instances')}?{_turned(wanted, Status(toggled))}")
    fields = filter_fields(wanted)
    context = {
        "wanted": wanted,
        "is_deep": cursor.before is not None or cursor.after is not None,
        "fields": fields,
        "opens": any(field.value for field in fields),
        "acts": acts_on(INSTANCE),
        "statuses": [StatusChoice(s.value, looks.STATUSES[s], s in wanted.statuses) for s in Status],
    }
    topics = [f"instances:{with_cursor(wanted.query, cursor)}", "operations"]
    return live_page(request, "instances/list.html", topics, context)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def bulk(request: HttpRequest) -> HttpResponse:
    """GET asks and says how many, POST does. `action` is one on each `id`; with `all`, or as retry-all, on all."""
    given = request.POST if request.method == "POST" else request.GET
    asked = given.get("action", "")
    action, ids = asked.removesuffix("-all"), _ids(given.getlist("id"))
    up_to = whole_number(given.get("up_to") or "0")
    if (INSTANCE, action) not in ACTS or ids is None or up_to is None:
        return HttpResponseBadRequest("This is not what the list's form sends.", content_type="text/plain")
    wanted = filter_in(given.get("filter", ""))
    chosen = None if asked.endswith("-all") or given.get("all") else ids
    if request.method == "POST":
        return once(request, lambda: acted(request, lambda: _begin(request, action, chosen, wanted, up_to)))
    return _confirm(request, action, chosen, wanted)


@require_safe
@login_required
def operation(request: HttpRequest, operation_id: int) -> HttpResponse:
    found = BulkOperation.objects.defer("ids").filter(pk=operation_id).first()
    context = {"operation_id": operation_id, "back": _back_of(found) if found else reverse("instances")}
    context["part_of"] = "jobs" if found is not None and found.subject == JOB else "instances"
    return live_page(request, "instances/operation.html", [f"operation:{operation_id}"], context)


@require_POST
@login_required
def stop(request: HttpRequest, operation_id: int) -> HttpResponse:  # noqa: ARG001 - Django hands it over
    operations.ask_to_stop(operation_id, timezone.now())
    return redirect("operation", operation_id)


@require_POST
@login_required
def resume(request: HttpRequest, operation_id: int) -> HttpResponse:  # noqa: ARG001 - Django hands it over
    if operations.claim_silent(operation_id, timezone.now()):
        operations.start(operation_id)
    return redirect("operation", operation_id)


def filter_fields(wanted: InstanceFilter) -> list[FilterField]:
    proposed = proposals()
    times = [(key, word) for key, (word, _) in WITHIN.items()]

    def made(name: str, label: str, **more: Any) -> FilterField:
        return FilterField(name, label, wanted.text(name), wanted.problems.get(name, ""), **more)

    return [
        made("job", "Job", options=proposed["jobs"]),
        made("tag", "Tag", options=proposed["tags"]),
        made("node", "Node", options=proposed["nodes"]),
        made("exit", "Exit code", hint="Such as 0 or 137."),
        made("within", "Time", options=times, hint="Those that waited, ran or ended in that time."),
        made("from", "From", kind="datetime-local", hint="UTC. Leaves out what had ended by then."),
        made("to", "Until", kind="datetime-local", hint="UTC. Leaves out what was created later."),
    ]


def _turned(wanted: InstanceFilter, status: Status) -> str:
    """The query with this status chosen, or no longer, from its first page."""
    chosen = {*wanted.statuses} ^ {status}
    return replace(wanted, statuses=tuple(one for one in Status if one in chosen), unknown=()).query


def _begin(
    request: HttpRequest, action: str, ids: list[int] | None, wanted: InstanceFilter, up_to: int
) -> HttpResponse:
    begun = operations.begin(
        action, actor=actor_of(request), now=timezone.now(), ids=ids, query=wanted.query, up_to=up_to
    )
    operations.start(begun.pk)
    return redirect("operation", begun.pk)


def _confirm(request: HttpRequest, action: str, ids: list[int] | None, wanted: InstanceFilter) -> HttpResponse:
    up_to = operations.newest_id()
    counts = (
        operations.counts_matching(wanted, action, up_to, timezone.now())
        if ids is None
        else operations.counts_chosen(ids, action)
    )
    total = sum(counts.values())
    back = reverse("instances") + (f"?{wanted.query}" if wanted.query else "")
    context = {
        "title": f"{action.capitalize()} {total:,} instance{'' if total == 1 else 's'}?",
        "act": ACTS[INSTANCE, action],
        "asked": action if ids is not None else f"{action}-all",
        "is_all": ids is None,
        "ids": [str(one) for one in ids or ()],
        "shown_up_to": str(up_to),
        "wanted": wanted,
        "total": total,
        "left_alone": len(ids) - total if ids else 0,
        "tally": [TallyLine(looks.STATUSES[s], f"{counts[s]:,}") for s in Status if s in counts],
        "back": back,
        "form_mark": new_mark(),
    }
    return render(request, "instances/bulk.html", context)


def _back_of(operation: BulkOperation) -> str:
    if operation.subject == JOB:
        return list_of(operation.query)
    return reverse("instances") + (f"?{operation.query}" if operation.query else "")


def _ids(texts: list[str]) -> list[int] | None:
    """None if there are too many, or one that is no id."""
    ids = [whole_number(text) for text in texts[: operations.MOST_IDS]]
    fine = None not in ids and len(texts) <= operations.MOST_IDS
    return sorted({pk for pk in ids if pk is not None}) if fine else None
