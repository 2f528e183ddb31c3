"""The form of a job, new or edited, the preview of its next fires, and what comes of it."""

from __future__ import annotations

from http import HTTPStatus
from zoneinfo import available_timezones

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from dashboard import forms
from dashboard.once import once
from dashboard.views.acting import acted, actor_of
from dashboard.views.jobs import find_or_404
from dashboard.views.pages import live_page
from jobs import actions
from jobs.actions.bodies import MASK
from jobs.models import Job

PREVIEWED = 10


@sensitive_post_parameters("environment")
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def new_job(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        return once(request, lambda: _create(request))
    return _page(request, forms.blank_form())


@sensitive_post_parameters("environment")
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def edit_job(request: HttpRequest, job_id: int) -> HttpResponse:
    """The stored job in the same form. Saving starts nothing, and undoes no edit that somebody else made meanwhile."""
    if request.method == "POST":
        return once(request, lambda: acted(request, lambda: _change(request, job_id)))
    job = find_or_404(job_id)
    return _page(request, forms.edit_form(job), job=job)


@require_POST
@login_required
def preview(request: HttpRequest) -> HttpResponse:
    """A fragment with the next fires of what the form says, or with what is wrong with it. Stores nothing."""
    now = timezone.now()
    try:
        found = actions.preview(forms.timing_input(request.POST.dict()) | {"count": PREVIEWED}, now=now)
    except actions.InvalidInput as refusal:
        context = {"sentences": [forms.in_words(problem.sentence) for problem in refusal.problems]}
        return render(request, "jobs/preview.html", context, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    return render(request, "jobs/preview.html", {"preview": found, "now": now, "when": request.POST.get("when", "now")})


def _create(request: HttpRequest) -> HttpResponse:
    posted = request.POST.dict()
    start = posted.get("when") != "by_hand"
    try:
        created = actions.create_job(forms.job_input(posted), actor=actor_of(request), now=timezone.now(), start=start)
    except actions.InvalidInput as refusal:
        return _page(request, forms.filled_form(posted, refusal.problems), HTTPStatus.UNPROCESSABLE_ENTITY)
    if created.instance_id is not None:
        return redirect("instance", created.instance_id)
    messages.success(request, f"Created {created.name}.")
    return redirect("job", created.job_id)


def _change(request: HttpRequest, job_id: int) -> HttpResponse:
    job, posted = find_or_404(job_id), request.POST.dict()
    try:
        forms.check_when(posted)
        patch = forms.job_patch(posted, forms.stored_texts(job))
        changed = actions.change_job(
            job_id, patch, actor=actor_of(request), now=timezone.now(), revision=forms.revision_in(posted)
        )
    except actions.InvalidInput as refusal:
        form = forms.filled_form(posted, refusal.problems)
        return _page(request, form, HTTPStatus.UNPROCESSABLE_ENTITY, job=job)
    except actions.Refused as refusal:
        form = forms.filled_form(posted, [])
        return _page(request, form, HTTPStatus.CONFLICT, job=job, conflict=refusal.sentence)
    messages.success(request, "Saved." if changed.changed else "Nothing was changed.")
    return redirect("job", job_id)


def _page(
    request: HttpRequest,
    form: forms.JobForm,
    status: int = HTTPStatus.OK,
    *,
    job: Job | None = None,
    conflict: str = "",
) -> HttpResponse:
    kept = f" {MASK} keeps the value that is stored." if job else ""
    context = {
        "form": form,
        "field": form.fields,
        "job": job,
        "conflict": conflict,
        "runs": forms.RUNS,
        "whens": {name: word for name, word in forms.WHENS.items() if not (job and name == "now")},
        "priorities": ("low", "medium", "high", "critical"),
        "environment_hint": f"One variable a line.{kept}",
        "zones": sorted(available_timezones()),
    }
    return live_page(request, "jobs/form.html", [], context, status=status)
