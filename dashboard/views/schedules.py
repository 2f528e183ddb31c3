"""The list of schedules."""

from __future__ import annotations

from dataclasses import replace

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dashboard.presentation.calendars import calendar_section
from dashboard.presentation.listpage import sort_links
from dashboard.schedulesearch import SORTS, STATES, TYPES, query_of
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
        "sorts": sort_links(query, SORTS),
    }
    context |= calendar_section(timezone.now())
    return live_page(request, "schedules/list.html", [f"schedules:{query.argument}"], context)
