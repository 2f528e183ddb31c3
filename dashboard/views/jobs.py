"""The list of jobs, one job, and what may be done to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http import HTTPStatus

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.acts import JOB, acts_on
from dashboard.jobsearch import JOB_STATES, KINDS, SORTS, STATUS_WORDS, query_of, search_of
from dashboard.once import new_mark, once
from dashboard.presentation.jobs import find
from dashboard.presentation.listpage import sort_links
from dashboard.presentation.rows import Gone
from dashboard.views.acting import acted, actor_of, told
from dashboard.views.pages import live_page
from jobs import actions
from jobs.core.states import LIVE
from jobs.models import Instance, Job
from jobs.store.workflows import dependents_of

FILTERS = {
    "": "All",
    "status:failed,timeout": "Failed",
    "status:running": "Running",
    "is:paused": "Paused",
    "is:trouble": "In trouble",
}


PAUSED = 'Paused: nothing of it starts until it is resumed. What waits goes on then, unless you "Cancel waiting".'


@require_safe
@login_required
def job_list(request: HttpRequest) -> HttpResponse:
    query = query_of(request.GET.dict())
    context = {
        "query": query,
        "problems": search_of(query.text).problems,
        "filters": [(text, word, text == query.text) for text, word in FILTERS.items()],
        "sorts": sort_links(query, SORTS),
        "kinds": KINDS,
        "states": JOB_STATES,
        "statuses": STATUS_WORDS,
        "acts": acts_on(JOB),
    }
    return live_page(request, "jobs/list.html", [f"jobs:{query.argument}", "operations"], context)


@require_safe
@login_required
def job(request: HttpRequest, job_id: int) -> HttpResponse:
    found = find_or_404(job_id)
    context = {"job_id": job_id, "job": found, "waits": found.upstreams.exists(), "planned": hasattr(found, "schedule")}
    return live_page(request, "jobs/job.html", [f"job:{job_id}"], context)


@require_POST
@login_required
def run(request: HttpRequest, job_id: int) -> HttpResponse:
    return once(request, lambda: _acted(request, lambda: _run(request, job_id)))


@require_POST
@login_required
def pause(request: HttpRequest, job_id: int) -> HttpResponse:
    return _change(request, job_id, actions.pause_job, PAUSED)


@require_POST
@login_required
def resume(request: HttpRequest, job_id: int) -> HttpResponse:
    return _change(request, job_id, actions.resume_job, "Resumed. What came due meanwhile is not made up for.")


@require_POST
@login_required
def cancel_waiting(request: HttpRequest, job_id: int) -> HttpResponse:
    do = partial(actions.cancel_waiting, job_id, actor=actor_of(request), now=timezone.now())
    return _acted(request, lambda: told(request, do, cancelled_in_words, "job", job_id))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def delete(request: HttpRequest, job_id: int) -> HttpResponse:
    """GET asks, POST does."""
    if request.method == "POST":
        return once(request, lambda: _acted(request, lambda: _delete(request, job_id)))
    live_count = Instance.objects.filter(job_id=job_id, status__in=LIVE).count()
    return render(
        request,
        "jobs/delete.html",
        {
            "job": find_or_404(job_id),
            "live_count": live_count,
            "dependents": dependents_of(job_id),
            "form_mark": new_mark(),
        },
    )


def find_or_404(job_id: int) -> Job:
    try:
        return find(job_id)
    except Gone as gone:
        raise Http404(gone.sentence) from gone


def _acted(request: HttpRequest, act: Callable[[], HttpResponse]) -> HttpResponse:
    """`acted`, with a page that leads on where the job is gone: its page may have stood open in another tab."""
    try:
        return acted(request, act)
    except Http404 as missing:
        return render(request, "jobs/gone.html", {"sentence": str(missing)}, status=HTTPStatus.NOT_FOUND)


def _run(request: HttpRequest, job_id: int) -> HttpResponse:
    try:
        submitted = actions.run_job(job_id, actor=actor_of(request), now=timezone.now())
    except actions.InvalidInput as refusal:  # it must be told a value that neither it nor the job says
        messages.error(request, refusal.sentence)
        return redirect("run-with", job_id)
    return redirect("instance", submitted.instance_id)


def _change(request: HttpRequest, job_id: int, action: Callable[..., actions.Changed], sentence: str) -> HttpResponse:
    do = partial(action, job_id, actor=actor_of(request), now=timezone.now())
    return _acted(
        request, lambda: told(request, do, lambda done: sentence + with_it(done) if done.changed else "", "job", job_id)
    )


def cancelled_in_words(gone: actions.WaitingCancelled) -> str:
    said = f"Cancelled {gone.cancelled} that waited." if gone.cancelled else "Nothing of it waits."
    return f"{said} What runs goes on."


def with_it(done: actions.Changed) -> str:
    """Whom it was done to as well, as a sentence more."""
    return f" So was {', '.join(done.with_it)}, which begins the same workflow." if done.with_it else ""


def _delete(request: HttpRequest, job_id: int) -> HttpResponse:
    name = str(find_or_404(job_id))
    deleted = actions.delete_job(job_id, actor=actor_of(request), now=timezone.now(), cancel_live=True, release=True)
    if deleted.gone:
        messages.success(request, f"Deleted {name}, with its instances and their logs.")
        return redirect("jobs")
    running = f"{deleted.running} instances are" if deleted.running > 1 else "one instance is"
    after = "they have" if deleted.running > 1 else "it has"
    messages.warning(request, f"{running.capitalize()} being stopped first; the job goes by itself when {after} ended.")
    return redirect("job", job_id)
