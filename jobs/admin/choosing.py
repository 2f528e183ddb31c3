"""Which rows a bulk action is about: first those that were ticked, then exactly those that its page showed."""

from __future__ import annotations

import re
import secrets
from typing import Any

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.cache import cache
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs.admin.bulk import Row

# Each is a transaction of its own, and the page lists them all.
MOST_AT_ONCE = 1_000
MARK = re.compile(r"[\w-]{1,40}", re.ASCII)
MARK_SECONDS = 3_600
KEY = re.compile(r"(\d{1,18}):(\d{1,9})")


def chosen_of(request: HttpRequest, ticked: QuerySet[Any]) -> dict[int, int | None] | None:
    """Ids with the revision that was shown, None before any was. None, and a message, when these are too many."""
    if "chosen" in request.POST:
        pairs = (KEY.fullmatch(part) for part in request.POST["chosen"].split(","))
        chosen: dict[int, int | None] = {int(pair[1]): int(pair[2]) for pair in pairs if pair}
    else:
        chosen = dict.fromkeys(ticked.order_by("pk").values_list("pk", flat=True)[: MOST_AT_ONCE + 1])
    if len(chosen) <= MOST_AT_ONCE:
        return chosen
    messages.error(request, f"More than {MOST_AT_ONCE:,} are chosen; filter the list, and take fewer at once.")
    return None


def page_of(rows: list[Row], action: str) -> dict[str, Any]:
    """What the page shows of the rows, and what its form sends back: not a field each, Django takes only so many."""
    return {
        "rows": rows,
        "affected": sum(bool(row.changes) for row in rows),
        "chosen": ",".join(row.key for row in rows),
        "first": rows[0].pk if rows else 0,
        "checkbox": ACTION_CHECKBOX_NAME,
        "action": action,
        "mark": secrets.token_urlsafe(12),
    }


def is_second_click(request: HttpRequest) -> bool:
    """Whether this very page was sent before, which a double click does: what runs once now would run twice.

    Each page has a mark of its own; a program that sends none is taken at its word.
    """
    mark = request.POST.get("mark", "")
    if not MARK.fullmatch(mark) or cache.add(f"bulk:{request.user.pk}:{mark}", True, MARK_SECONDS):
        return False
    messages.info(request, "The page was sent twice; what it asks for is done once.")
    return True
