"""Bulk actions: each is the single action on each of the selected, in a transaction of its own, told in one message."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.utils import timezone

from jobs.actions import ActionError

MOST_REFUSALS_SHOWN = 10


def act_on_each(
    request: HttpRequest,
    ids: Iterable[int],
    action: Callable[..., Any],
    done: str,
    *,
    counts: Callable[[Any], bool] = bool,
) -> None:
    """Call `action(id, actor=, now=)` for each. `done` says what was done to how many, such as "{} paused".

    `counts` tells from an answer whether anything was done. A refusal costs the others nothing.
    """
    actor = request.user.get_username()
    count, refusals = 0, []
    for one in ids:
        try:
            count += counts(action(one, actor=actor, now=timezone.now()))
        except ActionError as refusal:
            refusals.append(refusal.sentence)
    messages.success(request, done.format(count) + ".")
    for sentence in refusals[:MOST_REFUSALS_SHOWN]:
        messages.warning(request, sentence)
    if len(refusals) > MOST_REFUSALS_SHOWN:
        messages.warning(request, f"{len(refusals) - MOST_REFUSALS_SHOWN} more were refused.")
