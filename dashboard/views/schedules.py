"""The list of schedules."""

from __future__ import annotations

from dataclasses import replace

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dashboard.presentation.calendars import calendar_section
from dashboard.schedulesearch import SORTS, STATES, TYPES, ScheduleQuery, query_of
from dashboard.views.pages import live_page


@require_safe
@login_required
def schedules(request: HttpRequest) -> HttpResponse:
    query = query_of(request.GET.dict())
    context = {
        "query": query,
        "filters": [
            (replace(query, state=state, page=1).argument, word, state == query.state) for state, word in STATES.items()
        ],
        "types": TYPES,
        "sorts": [_sort_link(key, word, query) for key, word in SORTS.items()],
    }
    context |= calendar_section(timezone.now()) | {"may_edit_calendars": request.user.has_perm("jobs.view_calendar")}
    return live_page(request, "schedules/list.html", [f"schedules:{query.argument}"], context)


def _sort_link(key: str, word: str, query: ScheduleQuery) -> tuple[str, str, str]:
    """Address, word, and "down" or "up" if it is the order that is shown; then the link turns it round."""
    shown = {key: "down", f"-{key}": "up"}.get(query.sort, "")
    return query.turned(key).argument, word, shown
