"""The limits beside cores: seen with their use, made, changed and deleted on one page."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.once import once
from dashboard.views.acting import acted, actor_of, told
from dashboard.views.pages import live_page
from jobs import actions
from jobs.actions.forms import raw_from_form
from jobs.actions.limits import LIMIT_FIELDS
from jobs.models import Limit

KINDS = (("tag", "Tag"), ("model", "Execution model"), ("rate", "Rate"))
NUMBERS = {"maximum": "At once", "rate_per_second": "Per second", "burst": "Burst"}  # as the form calls them


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def limits(request: HttpRequest) -> HttpResponse:
    """A POST makes one; what is refused is shown again with what was typed."""
    if request.method != "POST":
        return _page(request)

    def make() -> HttpResponse:
        raw = raw_from_form({name: request.POST.get(name, "") for name in LIMIT_FIELDS})
        actions.create_limit(raw, actor=actor_of(request), now=timezone.now())
        messages.success(request, f"The limit {raw['name']} counts from now on.")
        return redirect("limits")

    try:
        return once(request, make)
    except actions.InvalidInput as refusal:
        return _page(request, [_in_words(problem) for problem in refusal.problems])


@require_POST
@login_required
def change(request: HttpRequest, limit_id: int) -> HttpResponse:
    raw = raw_from_form({name: request.POST[name] for name in NUMBERS if name in request.POST})
    return _done(
        request, "changed", lambda: actions.change_limit(limit_id, raw, actor=actor_of(request), now=timezone.now())
    )


@require_POST
@login_required
def delete(request: HttpRequest, limit_id: int) -> HttpResponse:
    return _done(
        request, "deleted", lambda: actions.delete_limit(limit_id, actor=actor_of(request), now=timezone.now())
    )


def _done(request: HttpRequest, did: str, action: Callable[[], actions.LimitChanged]) -> HttpResponse:
    def said(done: actions.LimitChanged) -> str:
        return f"The limit was {did}." if done.changed else "The limit was so already."

    return acted(request, lambda: told(request, action, said, "limits"))


def _in_words(problem: actions.Problem) -> str:
    if problem.field not in NUMBERS:
        return problem.sentence
    sentence = problem.sentence.replace(f"{problem.field} is null", f"{problem.field} is blank")
    return sentence.replace(problem.field, NUMBERS[problem.field])


def _page(request: HttpRequest, problems: list[str] | None = None) -> HttpResponse:
    context = {
        "part_of": "nodes",
        "limits": [(limit, f"limit:{limit.pk}") for limit in Limit.objects.all()],
        "kinds": KINDS,
        "problems": problems,
        "typed": {name: request.POST.get(name, "") for name in LIMIT_FIELDS},
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK
    return live_page(request, "limits/list.html", ["limits"], context, status=status)
