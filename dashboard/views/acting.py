"""Asking for an action in the name of the user, and showing why it was not done."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme

from jobs import actions

Done = TypeVar("Done")


def actor_of(request: HttpRequest) -> str:
    """The user's name, as it goes into events."""
    return str(request.user.get_username())


def came_from(request: HttpRequest, otherwise: str) -> str:
    """The page on which the button was, if the form says one of this site."""
    given = request.POST.get("next", "")
    fine = url_has_allowed_host_and_scheme(given, {request.get_host()}, require_https=request.is_secure())
    # A redirect would take another text for the name of a page.
    return given if fine and given.startswith("/") else otherwise


def told(request: HttpRequest, do: Callable[[], Done], said: Callable[[Done], str], *back: Any) -> HttpResponse:
    """Do it, tell what `said` makes of the answer, if anything, and go back to a page. Raises what `do` raises."""
    if sentence := said(do()):
        messages.success(request, sentence)
    return redirect(*back)


def acted(request: HttpRequest, act: Callable[[], HttpResponse]) -> HttpResponse:
    """What `act` answers, or a page that says why it was not done. Raises Http404 where there is nothing to act on."""
    try:
        return act()
    except actions.NotFound as missing:
        raise Http404(missing.sentence) from missing
    except actions.ActionError as refusal:
        return render(request, "refused.html", {"sentence": refusal.sentence}, status=HTTPStatus.CONFLICT)
