"""What is to come: fires, core use, waits and warnings of the next time, and what would come of a change."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.presentation.forecast import WINDOWS, kept, made
from dashboard.views.pages import live_page
from jobs import actions
from jobs.actions.forecasts import foretell_change
from jobs.actions.forms import raw_from_form
from jobs.models import Job

CHANGE = ("job", "at", "cores", "duration_seconds")
MOST_NAMES = 200


@require_safe
@login_required
def forecast(request: HttpRequest) -> HttpResponse:
    """Complete at once except for what is computed: the browser asks for that, or (`whole`) it is waited for."""
    window, typed = _window(request), _typed(request)
    whole = "whole" in request.GET
    context: dict[str, Any] = {
        "windows": [(name, word, name == window) for name, (word, _) in WINDOWS.items()],
        "window": window,
        "typed": typed,
        "names": Job.objects.order_by("name").values_list("name", flat=True)[:MOST_NAMES],
        "forecast_url": f"{reverse('forecast-part')}?{urlencode({'window': window})}",
        "forecast": kept(window) or (_forecast(window) if whole else None),
        "whole_url": f"?{urlencode({'window': window, **typed, 'whole': ''})}",
    }
    if typed["job"]:
        context["change_url"] = f"{reverse('what-if')}?{urlencode({'window': window, **typed})}"
        context["change"] = _change(window, typed) if whole else None
    return live_page(request, "forecast/page.html", [], context)


@never_cache
@require_safe
@login_required
def forecast_part(request: HttpRequest) -> HttpResponse:
    """A fragment with the forecast, or with why there is none. Takes a few seconds at most."""
    return _part(request, "forecast/forecast.html", {"forecast": _forecast(_window(request))})


@never_cache
@require_safe
@login_required
def what_if(request: HttpRequest) -> HttpResponse:
    """A fragment with what would come of a change, or with what is wrong with it. Takes a few seconds at most."""
    return _part(request, "forecast/change.html", {"change": _change(_window(request), _typed(request))})


def _part(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    return render(request, template, context | {"now": timezone.now()})


def _window(request: HttpRequest) -> str:
    given = request.GET.get("window", "")
    return given if given in WINDOWS else "day"


def _typed(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET.get(name, "").strip() for name in CHANGE}


def _forecast(window: str) -> dict[str, Any]:
    try:
        return made(window, timezone.now())
    except actions.Refused as refusal:
        return {"refusal": refusal.sentence}


def _change(window: str, typed: dict[str, str]) -> dict[str, Any]:
    words, days = WINDOWS[window]
    try:
        said = foretell_change(raw_from_form(typed) | {"days": days}, now=timezone.now())
    except actions.InvalidInput as refusal:
        return {"problems": [problem.sentence for problem in refusal.problems]}
    except actions.Refused as refusal:
        return {"problems": [refusal.sentence]}
    return {"said": said, "typed": typed, "words": words.lower()}
