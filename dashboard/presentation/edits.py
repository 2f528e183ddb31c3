"""Who changed a thing last, for whoever has edited it at the same time."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Max

from jobs.models import Event

# Events have no index of jobs; an edit older than so many is not worth reading them all.
MOST_READ = 50_000


class Edit(NamedTuple):
    actor: str
    at: datetime


def last_edit(kind: str, **which: Any) -> Edit | None:
    """By the events of that kind, about `which`. None if nobody is known to have changed it lately. Two queries."""
    newest = Event.objects.aggregate(newest=Max("pk"))["newest"] or 0
    found = Event.objects.filter(pk__gt=newest - MOST_READ, kind=kind, **which).exclude(actor="")
    row = found.order_by("-pk").values_list("actor", "at").first()
    return Edit(*row) if row else None
