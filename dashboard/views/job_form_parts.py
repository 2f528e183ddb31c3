"""Parts of the form of a job that follow what is typed: next fires, environment, and a run of it as a test."""

from __future__ import annotations

from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from dashboard import forms
from dashboard.callableforms import fields_of
from dashboard.filters import whole_number
from dashboard.live.places import latest_place
from dashboard.presentation.instance import read_instance
from dashboard.presentation.jobs import find
from dashboard.presentation.logtext import first_text
from dashboard.presentation.rows import Gone
from dashboard.views.acting import actor_of
from dashboard.views.new_job import foreseen, form_page, posted_in
from jobs import actions
from jobs.actions.timing import HASHED_BEFORE_STORED
from jobs.actions.trial import try_job
from jobs.models import Job, Schedule

PREVIEWED = 10
LINES_SHOWN = 12


@require_POST
@login_required
def preview(request: HttpRequest) -> HttpResponse:
    """A fragment with the next fires of what the form says, or with what is wrong with it. Stores nothing.

    Both are answers to what is being typed: a status of error would be one in the browser's console at each keystroke.
    """
    now = timezone.now()
    try:
        posted = request.POST.dict()
        wanted = forms.timing_input(posted) | {"count": PREVIEWED}
        found = actions.preview(wanted, now=now, hash_id=_schedule_id(posted), lenient=True)
    except actions.InvalidInput as refusal:
        if _is_over(posted):
            return render(request, "jobs/preview.html", {"is_over": True})
        form = forms.filled_form(posted, refusal.problems)
        context = {"sentences": [s for field in form.faulty for s in field.errors] + list(form.elsewhere)}
        return render(request, "jobs/preview.html", context)
    return render(request, "jobs/preview.html", {"preview": found, "now": now, "when": request.POST.get("when", "now")})


@sensitive_post_parameters()  # fields of parameters have the names that jobs give them
@require_POST
@login_required
def surroundings(request: HttpRequest) -> HttpResponse:
    """A fragment with the environment that the job would find."""
    return render(request, "jobs/surroundings.html", {"foreseen": foreseen(request.POST.dict())})


@require_POST
@login_required
def callable_fields(request: HttpRequest) -> HttpResponse:
    """A fragment with the parameters of the callable that the form has chosen."""
    posted = request.POST.dict()
    chosen = posted.get("callable", "")
    return render(
        request, "jobs/callable_fields.html", {"fields": fields_of(chosen, _edited(posted)), "chosen": chosen}
    )


@sensitive_post_parameters()  # fields of parameters have the names that jobs give them
@require_POST
@login_required
def try_out(request: HttpRequest) -> HttpResponse:
    """Run what the form says once, beside the job. The script of the form gets a fragment, else it leads on."""
    posted, in_place = request.POST.dict(), "HTTP_X_IN_PLACE" in request.META
    job = _edited(posted)
    try:
        posted = posted_in(request, job)
        raw = forms.job_patch(posted, forms.stored_texts(job)) if job else forms.job_input(posted)
        done = try_job(raw, actor=actor_of(request), now=timezone.now(), of=job.pk if job else None)
    except actions.InvalidInput as refusal:
        form = forms.filled_form(posted, refusal.problems)
        if not in_place:
            return form_page(request, form, HTTPStatus.UNPROCESSABLE_ENTITY, job=job)
        sentences = [sentence for field in form.faulty for sentence in field.errors] + list(form.elsewhere)
        return render(request, "jobs/tried.html", {"sentences": sentences})
    except actions.ActionError as refusal:
        if in_place:
            return render(request, "jobs/tried.html", {"sentences": [refusal.sentence]})
        return render(request, "refused.html", {"sentence": refusal.sentence}, status=HTTPStatus.CONFLICT)
    return redirect("tried" if in_place else "instance", done.instance_id)


@require_safe
@login_required
def tried(request: HttpRequest, instance_id: int) -> HttpResponse:
    """A fragment: how the test stands, and the last lines of what it printed."""
    now = timezone.now()
    try:
        regions = read_instance(instance_id, now)
    except Gone as gone:
        raise Http404(gone.sentence) from gone
    lines = first_text(latest_place(instance_id)).text.rstrip("\n").split("\n")
    context = {"head": regions["head"][0][1], "lines": "\n".join(lines[-LINES_SHOWN:]), "now": now}
    return render(request, "jobs/tried.html", context | {"cut": len(lines) > LINES_SHOWN})


def _schedule_id(posted: dict[str, str]) -> str:
    """What `H` is hashed from in the job that the form shows; for a new one nobody knows that yet."""
    number = posted.get("job", "")
    if not (number.isascii() and number.isdecimal() and len(number) < 16):
        return HASHED_BEFORE_STORED
    found = Schedule.objects.filter(job_id=int(number)).values_list("pk", flat=True).first()
    return HASHED_BEFORE_STORED if found is None else str(found)


def _is_over(posted: dict[str, str]) -> bool:
    """The schedule is that of the edited job, unchanged, and has come to its end: saving it is no fault."""
    job = _edited(posted)
    schedule = getattr(job, "schedule", None)
    if job is None or schedule is None or schedule.next_at is not None or schedule.fault:
        return False
    return forms.timing_input(posted) == forms.timing_input(forms.stored_texts(job))


def _edited(posted: dict[str, str]) -> Job | None:
    """The job that the form shows; None for a new one. Raises Http404."""
    number = posted.get("job", "")
    if not number:
        return None
    try:
        return find(whole_number(number) or 0)
    except Gone as gone:
        raise Http404(gone.sentence) from gone
