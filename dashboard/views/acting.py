"""Asking for an action in the name of the user, and showing why it was not done."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from jobs import actions


def actor_of(request: HttpRequest) -> str:
    """The user's name, as it goes into events."""
    return str(request.user.get_username())


def acted(request: HttpRequest, act: Callable[[], HttpResponse]) -> HttpResponse:
    """What `act` answers, or a page that says why it was not done. Raises Http404 where there is nothing to act on."""
    try:
        return act()
    except actions.NotFound as missing:
        raise Http404(missing.sentence) from missing
    except actions.ActionError as refusal:
        return render(request, "refused.html", {"sentence": refusal.sentence}, status=HTTPStatus.CONFLICT)
