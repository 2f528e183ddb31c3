"""What a page fetches when it has no socket, or one that does not know how far the page is."""

from __future__ import annotations

import json
from datetime import datetime
from threading import Lock
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.live.board import rows_frame, whole
from dashboard.live.loads import Loads
from dashboard.live.sampler import Sampler
from dashboard.presentation.rows import Gone, Regions, html_of
from dashboard.topics import LOAD, UnknownTopicError, has_rows
from dashboard.views.pages import regions_of
from jobs import feed

MOST_TOPICS = 8


@require_safe
@never_cache
@login_required
def rows(request: HttpRequest) -> HttpResponse:
    """All rows of each `topic` asked for, as frames like those of the socket: {"frames": [...]}."""
    now, position = timezone.now(), str(feed.head())
    topics = request.GET.getlist("topic")[:MOST_TOPICS]
    try:
        frames = [_frame(topic, now, position) for topic in topics if has_rows(topic)]
    except UnknownTopicError as error:
        return HttpResponseBadRequest(str(error), content_type="text/plain")
    return JsonResponse({"frames": frames + (_load() if LOAD in topics else [])})


_sampler, _loads, _sampling = Sampler(), Loads(), Lock()


def _load() -> list[Any]:
    """The load since the last one who asked: pages without a socket share one sampler."""
    with _sampling:
        _sampler.sample_into(_loads)
        sampled = _loads.after(0)
    return [json.loads(sampled[0])] if sampled else []


def _frame(topic: str, now: datetime, position: str) -> Any:
    try:
        regions: Regions = regions_of(topic, now)
    except Gone as gone:
        regions = {"notice": [("gone", gone)]}
    drawn = {name: [(row[0], str(html_of(name, row, now))) for row in rows] for name, rows in regions.items()}
    return json.loads(rows_frame(topic, {name: whole(rows) for name, rows in drawn.items()}, position=position))
