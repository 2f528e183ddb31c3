"""What is done to a selection of jobs: asked once more, then done to each as its own button does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from dashboard.once import new_mark, once
from dashboard.views.acting import actor_of
from jobs import actions
from jobs.models import Job

MOST = 200


@dataclass(frozen=True, slots=True)
class Bulk:
    """`does` is what happens to each, `did` what is said after it, `nothing` of those that were so already."""

    word: str
    icon: str
    action: Callable[..., Any]
    does: str
    did: str
    nothing: str = ""


BULKS = {
    "run": Bulk("Run", "play", actions.run_job, "Each gets one instance more, due now.", "Submitted"),
    "pause": Bulk(
        "Pause", "pause", actions.pause_job,
        "Nothing of them starts until they are resumed; what runs goes on.", "Paused", "paused already",
    ),
    "resume": Bulk(
        "Resume", "play", actions.resume_job,
        "Their schedules count again from now on; what came due meanwhile is not made up for.",
        "Resumed", "not paused",
    ),
}  # fmt: skip


@require_POST
@login_required
def act_on_jobs(request: HttpRequest) -> HttpResponse:
    """The jobs `job` of a list, and what to `do`. Without `sure` it asks, with it it does."""
    bulk = BULKS.get(request.POST.get("do", ""))
    chosen = [int(pk) for pk in request.POST.getlist("job") if pk.isascii() and pk.isdecimal() and len(pk) < 19]
    if bulk is None or len(chosen) > MOST:
        return HttpResponseBadRequest(
            f"Choose run, pause or resume, and at most {MOST} jobs.", content_type="text/plain"
        )
    if not chosen:
        messages.warning(request, f"No job was selected; mark the jobs that you want to {bulk.word.lower()}.")
        return redirect(_back(request))
    if request.POST.get("sure"):
        return once(request, lambda: _act(request, bulk, chosen))
    jobs = Job.objects.filter(pk__in=chosen).only("name", "paused_at").order_by("name")
    context = {"bulk": bulk, "do": request.POST["do"], "jobs": jobs, "back": _back(request), "form_mark": new_mark()}
    return render(request, "jobs/confirm.html", context)


def _act(request: HttpRequest, bulk: Bulk, chosen: Iterable[int]) -> HttpResponse:
    done, same, refusals = 0, 0, []
    for job_id in dict.fromkeys(chosen):
        try:
            answer = bulk.action(job_id, actor=actor_of(request), now=timezone.now())
        except actions.ActionError as refusal:
            refusals.append(refusal.sentence)
        else:
            changed = not isinstance(answer, actions.Changed) or bool(answer.changed)
            done, same = done + changed, same + (not changed)
    _say(request, bulk, done, same, refusals)
    return redirect(_back(request))


def _say(request: HttpRequest, bulk: Bulk, done: int, same: int, refusals: list[str]) -> None:
    rest = f" {_jobs(same)} {'was' if same == 1 else 'were'} {bulk.nothing}." if same else ""
    (messages.success if done else messages.warning)(request, f"{bulk.did} {_jobs(done)}.{rest}")
    for sentence in refusals:
        messages.warning(request, sentence)


def _jobs(count: int) -> str:
    return f"{count or 'no'} job{'' if count == 1 else 's'}"


def _back(request: HttpRequest) -> str:
    """The list as it was, if that is a page of this site."""
    given = request.POST.get("next", "")
    fine = url_has_allowed_host_and_scheme(given, {request.get_host()}, require_https=request.is_secure())
    return given if fine else reverse("jobs")
