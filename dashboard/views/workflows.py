"""A workflow and its dates; running it, and retrying from one of its instances."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dashboard.once import once
from dashboard.presentation.workflows import rows_of
from dashboard.views.acting import acted, actor_of
from dashboard.views.pages import live_page
from jobs import actions
from jobs.store import grids

DATES = 30


@require_safe
@login_required
def workflow(request: HttpRequest, job_id: int) -> HttpResponse:
    """The jobs of the workflow across, their logical dates down; `?before=` a date shows earlier ones."""
    given = request.GET.get("before", "")
    try:
        before = actions.read_date(job_id, "before", given) if given else None
    except actions.InvalidInput as refusal:
        raise Http404(refusal.sentence) from refusal
    grid = grids.grid(job_id, DATES, before)
    if grid is None:
        raise Http404(f"Job {job_id} does not exist; it may have been deleted.")
    job = next(one for one in grid.jobs if one.pk == job_id)
    context = {
        "part_of": "jobs",
        "job": job,
        "jobs": [(one, [two.name for two in grid.jobs if two.pk in grid.graph.upstreams(one.pk)]) for one in grid.jobs],
        "rows": rows_of(grid, job_id),
        "older": grid.older.isoformat() if grid.older else "",
        "is_first": before is None,
    }
    return live_page(request, "workflows/workflow.html", [], context)


@require_POST
@login_required
def run_workflow(request: HttpRequest, job_id: int) -> HttpResponse:
    """All of its jobs, for one date."""
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
        submitted = actions.run_job(job_id, actor=actor_of(request), now=timezone.now(), scope=scope)
        return redirect("instance", submitted.instance_id)

    return once(request, lambda: acted(request, act))
