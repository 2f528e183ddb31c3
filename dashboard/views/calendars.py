"""Calendars: listed, made, changed and deleted, and what each does to the schedules that go by it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.forms import Field
from dashboard.merging import Clash, merged, seen_of
from dashboard.once import once
from dashboard.presentation.calendars import MOST_LISTED, calendar_section, calendar_users
from dashboard.presentation.edits import last_edit
from dashboard.views.acting import acted, actor_of, told
from dashboard.views.pages import live_page
from jobs import actions
from jobs.actions import InvalidInput, NotFound, Problem
from jobs.actions.answers import ChangedMeanwhile
from jobs.actions.calendarlines import CALENDAR_TEXTS, calendar_from_form, calendar_texts
from jobs.actions.calendars import revision_of
from jobs.labels import LABELS_OF_CALENDAR
from jobs.models import Calendar

PART_OF = "schedules"
GONE = "The calendar was deleted meanwhile. What you typed is still below; saving it makes a new calendar."


@require_safe
@login_required
def calendars(request: HttpRequest) -> HttpResponse:
    context = calendar_section(timezone.now(), MOST_LISTED)
    return live_page(request, "calendars/list.html", [], context | {"part_of": PART_OF})


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def new_calendar(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _page(request, Calendar(), {})
    return once(request, lambda: _create(request))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def edit_calendar(request: HttpRequest, calendar_id: int) -> HttpResponse:
    """POST stores it; with `check` it only shows what that would do to the schedules that go by it."""
    calendar = Calendar.objects.filter(pk=calendar_id).first()
    if calendar is None and request.method == "POST":
        return _gone(request)
    if calendar is None:
        raise Http404(f"There is no calendar {calendar_id}; it may have been deleted.")
    if request.method != "POST":
        return _page(request, calendar, calendar_texts(calendar.name, calendar.definition))
    if "check" in request.POST:
        return _checked(request, calendar)
    return once(request, lambda: acted(request, lambda: _change(request, calendar)))


@require_POST
@login_required
def delete_calendar(request: HttpRequest, calendar_id: int) -> HttpResponse:
    do = partial(actions.delete_calendar, calendar_id, actor=actor_of(request), now=timezone.now())
    return acted(request, lambda: told(request, do, "Calendar {} is deleted.".format, "calendars"))


def _create(request: HttpRequest) -> HttpResponse:
    typed = _typed(request)
    try:
        stored = actions.create_calendar(calendar_from_form(typed), actor=actor_of(request), now=timezone.now())
    except InvalidInput as refusal:
        return _page(request, Calendar(), typed, refusal.problems)
    messages.success(request, f"Created calendar {stored.name}. Choose it in the schedules that are to go by it.")
    return redirect("edit-calendar", stored.calendar_id)


def _change(request: HttpRequest, calendar: Calendar) -> HttpResponse:
    typed, stored = _typed(request), calendar_texts(calendar.name, calendar.definition)
    if request.POST.get("seen") != seen_of(stored):
        typed, clashes = merged(request.POST, stored, LABELS_OF_CALENDAR)
        if clashes:
            return _page(request, calendar, typed, clashes=clashes)
    try:
        raw = calendar_from_form(typed, calendar.pk)
        changed = actions.change_calendar(
            calendar.pk, raw, actor=actor_of(request), now=timezone.now(), revision=revision_of(calendar)
        ).changed
    except InvalidInput as refusal:
        return _page(request, calendar, typed, refusal.problems)
    except NotFound:
        return _gone(request)
    except ChangedMeanwhile:  # between the look and the wish
        now_stored = Calendar.objects.filter(pk=calendar.pk).first()
        return _change(request, now_stored) if now_stored else _gone(request)
    said = "The schedules that go by it follow from now on." if changed else "It was so already."
    messages.success(request, said)
    return redirect("edit-calendar", calendar.pk)


def _gone(request: HttpRequest) -> HttpResponse:
    """What was typed into the form of a calendar that was deleted meanwhile, to make another one of it."""
    return _page(request, Calendar(), _typed(request), refused=GONE)


def _checked(request: HttpRequest, calendar: Calendar) -> HttpResponse:
    typed = _typed(request)
    try:
        raw = calendar_from_form(typed, calendar.pk)
    except InvalidInput as refusal:
        return _page(request, calendar, typed, refusal.problems)
    calendar.name = raw.pop("name")
    calendar.definition = {field: value for field, value in raw.items() if value is not None}
    return _page(request, calendar, typed, is_draft=True)


def _typed(request: HttpRequest) -> dict[str, str]:
    return {name: request.POST.get(name, "").replace("\r\n", "\n") for name in CALENDAR_TEXTS}


def _page(
    request: HttpRequest,
    calendar: Calendar,
    typed: Mapping[str, str],
    problems: Iterable[Problem] = (),
    *,
    is_draft: bool = False,
    clashes: Sequence[Clash] = (),
    refused: str = "",
) -> HttpResponse:
    said: dict[str, list[str]] = {name: [] for name in CALENDAR_TEXTS}
    for problem in problems:
        said[problem.field].append(problem.sentence)
    context: dict[str, Any] = {
        "calendar": calendar,
        "field": {name: Field(name, typed.get(name, ""), tuple(said[name])) for name in CALENDAR_TEXTS},
        "is_draft": is_draft,
        "clashes": clashes,
        "refused": refused,
        "part_of": PART_OF,
    }
    if calendar.pk:
        context |= calendar_users(calendar, timezone.now())
        context["seen"] = request.POST.get("seen", "")
    if calendar.pk and (clashes or request.method != "POST"):
        context["seen"] = seen_of(calendar_texts(calendar.name, calendar.definition))
    if clashes:
        context["changed"] = last_edit("calendar.changed", data__name=calendar.name)
    return live_page(request, "calendars/form.html", [], context, status=_status(clashes, refused, *said.values()))


def _status(clashes: Sequence[Clash], refused: str, *said: list[str]) -> HTTPStatus:
    if refused:
        return HTTPStatus.NOT_FOUND
    if clashes:
        return HTTPStatus.CONFLICT
    return HTTPStatus.UNPROCESSABLE_ENTITY if any(said) else HTTPStatus.OK
