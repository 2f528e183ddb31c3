"""A workflow and its dates; running it, and retrying from one of its instances."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dashboard.once import once
from dashboard.presentation.workflows import latest_missing
from dashboard.topics import workflow_topic
from dashboard.views.acting import acted, actor_of
from dashboard.views.jobs import find_or_404
from dashboard.views.pages import live_page
from jobs import actions
from jobs.store import read
from jobs.store.workflows import zone_of


@require_safe
@login_required
def workflow(request: HttpRequest, job_id: int) -> HttpResponse:
    """The jobs of the workflow across, their logical dates down; `?before=` a date shows earlier ones."""
    given = request.GET.get("before", "")
    try:
        before = actions.read_date(job_id, "before", given) if given else None
    except actions.InvalidInput as refusal:
        raise Http404(refusal.sentence) from refusal
    missing = latest_missing(job_id, timezone.now())
    context = {
        "part_of": "jobs",
        "job": find_or_404(job_id),
        "missing": missing.isoformat() if missing else "",
        "zone": zone_of(read.workflows(), job_id),
    }
    return live_page(request, "workflows/workflow.html", [workflow_topic(job_id, before)], context)


@require_POST
@login_required
def run_workflow(request: HttpRequest, job_id: int) -> HttpResponse:
    """All of its jobs, for one date: `logical_at`, or now."""
    return _run(request, job_id, "workflow")


@require_POST
@login_required
def run_only(request: HttpRequest, job_id: int) -> HttpResponse:
    return _run(request, job_id, "job")


@require_POST
@login_required
def retry_from_here(request: HttpRequest, instance_id: int) -> HttpResponse:
    def act() -> HttpResponse:
        submitted = actions.retry_from_here(instance_id, actor=actor_of(request), now=timezone.now())
        return redirect("instance", submitted.instance_id)

    return once(request, lambda: acted(request, act))


def _run(request: HttpRequest, job_id: int, scope: str) -> HttpResponse:
    def act() -> HttpResponse:
        given = request.POST.get("logical_at", "").strip()
        date = actions.read_date(job_id, "logical_at", given) if given else None
        submitted = actions.run_job(job_id, actor=actor_of(request), now=timezone.now(), scope=scope, logical_at=date)
        return redirect("instance", submitted.instance_id)

    return once(request, lambda: acted(request, act))
