"""The page on which a run is told its parameters: of a job, or once more of an instance with what that ran with."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dashboard.filters import whole_number
from dashboard.once import new_mark, once
from dashboard.parameterforms import posted_values, undeclared
from dashboard.presentation.parameters import parameter_fields
from dashboard.views.acting import acted, actor_of
from dashboard.views.jobs import find_or_404
from dashboard.views.pages import live_page
from jobs import actions
from jobs.given import ran_with
from jobs.models import Instance, Job
from jobs.parameters.masking import masked
from jobs.parameters.values import defaults_of
from jobs.store import read


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def run_with(request: HttpRequest, job_id: int) -> HttpResponse:
    """`again`, in the query or posted, names an instance of the job: one more run for its logical date."""
    job = find_or_404(job_id)
    again = _instance(job, request.POST.get("again") or request.GET.get("again", ""))
    before = ran_with(again) if again else None
    filled = masked({**defaults_of(job.parameters), **(job.parameter_values if before is None else before)})
    if request.method == "POST":
        return once(request, lambda: acted(request, lambda: _run(request, job, again, before, filled)))
    return _page(request, job, again, filled)


def _run(
    request: HttpRequest,
    job: Job,
    again: Instance | None,
    before: Mapping[str, Any] | None,
    filled: Mapping[str, Any],
) -> HttpResponse:
    posted = request.POST.dict()
    try:
        submitted = actions.run_job(
            job.pk,
            actor=actor_of(request),
            now=timezone.now(),
            scope="job",
            logical_at=again.logical_at if again else None,
            parameters=posted_values(job.parameters, posted, filled) | undeclared(job.parameters, posted),
            before=before,
        )
    except actions.InvalidInput as refusal:
        return _page(request, job, again, filled, posted, refusal.problems, HTTPStatus.UNPROCESSABLE_ENTITY)
    return redirect("instance", submitted.instance_id)


def _page(
    request: HttpRequest,
    job: Job,
    again: Instance | None,
    filled: Mapping[str, Any],
    posted: Mapping[str, str] | None = None,
    problems: list[actions.Problem] | None = None,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    fields = parameter_fields(job.parameters, filled, posted=posted, problems=problems or ())
    at_fields = {sentence for one in fields for sentence in one.errors}
    context = {
        "job": job,
        "again": again,
        "fields": fields,
        "elsewhere": [one.sentence for one in problems or () if one.sentence not in at_fields],
        "in_workflow": job.pk in read.workflows(),
        "form_mark": new_mark(),
    }
    return live_page(request, "jobs/run_with.html", [], context, status=status)


def _instance(job: Job, text: str) -> Instance | None:
    if not text:
        return None
    found = Instance.objects.filter(job=job, pk=min(whole_number(text) or 0, 2**63 - 1)).first()
    if found is None:
        raise Http404(f"{job.name} has no such instance; it may have been deleted.")
    return found
