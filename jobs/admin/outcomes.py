"""Bulk actions: each is the single action on each of the chosen, in a transaction of its own, told in one message."""

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
    """Call `action(id, actor=, now=)` for each. `done` says what was done to how many, as `counted` takes it.

    `counts` tells from an answer whether anything was done. A refusal costs the others nothing.
    """
    answers, refusals = answers_of(request, ids, action)
    messages.success(request, counted(done, sum(map(counts, answers))))
    tell_refusals(request, refusals)


def counted(sentence: str, number: int) -> str:
    """Such as "2 jobs paused." of "{} job{s} paused"."""
    return sentence.format(f"{number:,}", s="" if number == 1 else "s") + "."


def answers_of(request: HttpRequest, ids: Iterable[int], action: Callable[..., Any]) -> tuple[list[Any], list[str]]:
    """The answers of those that were done, and the sentences of those that were not."""
    actor = request.user.get_username()
    answers, refusals = [], []
    for one in ids:
        try:
            answers.append(action(one, actor=actor, now=timezone.now()))
        except ActionError as refusal:
            refusals.append(refusal.sentence)
    return answers, refusals


def tell_refusals(request: HttpRequest, refusals: list[str]) -> None:
    for sentence in refusals[:MOST_REFUSALS_SHOWN]:
        messages.warning(request, sentence)
    if len(refusals) > MOST_REFUSALS_SHOWN:
        messages.warning(request, f"{len(refusals) - MOST_REFUSALS_SHOWN} more were refused.")
