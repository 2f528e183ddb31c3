"""Backfills of a job: counted first, then started; how far each has got."""

from __future__ import annotations

from http import HTTPStatus

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.once import once
from dashboard.views.acting import acted, actor_of
from dashboard.views.jobs import find_or_404
from dashboard.views.pages import live_page
from jobs import actions
from jobs.models import Backfill

FIELDS = ("first", "last", "concurrency", "only_missing")


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def backfills(request: HttpRequest, job_id: int) -> HttpResponse:
    """POST counts the dates of the window; with `start` it makes them."""
    if request.method == "POST" and "start" in request.POST:
        return once(request, lambda: acted(request, lambda: _asked(request, job_id)))
    return acted(request, lambda: _asked(request, job_id))


@require_POST
@login_required
def cancel(request: HttpRequest, backfill_id: int) -> HttpResponse:
    def act() -> HttpResponse:
        answer = actions.cancel_backfill(backfill_id, actor=actor_of(request), now=timezone.now())
        stopping = f", {answer.stopping} are being stopped" if answer.stopping else ""
        said = f"Cancelled: {answer.cancelled} instances will not run{stopping}." if answer.changed else "It had ended."
        messages.info(request, said)
        return redirect("backfills", Backfill.objects.values_list("job_id", flat=True).get(pk=backfill_id))

    return acted(request, act)


def _asked(request: HttpRequest, job_id: int) -> HttpResponse:
    job = find_or_404(job_id)
    given = {name: request.POST.get(name, "") for name in FIELDS} if request.method == "POST" else {}
    plan, refused = None, ""
    if given:
        try:
            plan = _plan(request, job_id, given)
            if plan is None:
                messages.success(request, "The backfill has begun.")
                return redirect("backfills", job_id)
        except (actions.InvalidInput, actions.Refused) as refusal:
            refused = refusal.sentence
    context = {
        "job": job,
        "given": given or {"concurrency": "1", "only_missing": "on"},
        "plan": plan,
        "refused": refused,
        "most": actions.MOST_AT_ONCE,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refused else HTTPStatus.OK
    return live_page(request, "backfills/backfills.html", [f"backfills:{job_id}"], context, status=status)


def _plan(request: HttpRequest, job_id: int, given: dict[str, str]) -> str | None:
    """What it would make, in a sentence; None where it was started."""
    now, only_missing = timezone.now(), bool(given["only_missing"])
    first = actions.read_date(job_id, "first", given["first"])
    last = actions.read_date(job_id, "last", given["last"], end_of_day=True)
    if "start" not in request.POST:
        return actions.plan_backfill(job_id, first, last, now=now).sentence(only_missing=only_missing)
    text = given["concurrency"].strip()
    concurrency = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0
    actor = actor_of(request)
    actions.create_backfill(
        job_id, first, last, actor=actor, now=now, concurrency=concurrency, only_missing=only_missing
    )
    return None
