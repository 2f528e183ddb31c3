"""What every page needs: its topics, their rows, and where in the feed it was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from dashboard.once import new_mark
from dashboard.presentation.rows import Gone, Regions
from dashboard.topics import has_rows, parts_of
from jobs import feed

SITE = "site"


def live_page(
    request: HttpRequest, template: str, topics: Sequence[str], context: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    """Draw a page that goes live with `topics`, all of whose regions it has. Raises Http404 if one is about nothing."""
    now = timezone.now()
    position = str(feed.head())  # before the rows: they may know more than it says, never less
    regions: dict[str, Any] = {}
    try:
        for topic in filter(has_rows, (*topics, SITE)):
            regions |= regions_of(topic, now)
    except Gone as gone:
        raise Http404(gone.sentence) from gone
    live = {"topics": " ".join((*topics, SITE)), "position": position}
    common = {"regions": regions, "now": now, "live": live, "form_mark": new_mark()}
    return render(request, template, common | (context or {}), status=status)


def regions_of(topic: str, now: datetime) -> Regions:
    """All regions of a topic of rows. Raises Gone, UnknownTopicError."""
    regions: dict[str, Any] = {}
    for part in parts_of(topic):
        regions |= part.read(now)
    return regions
