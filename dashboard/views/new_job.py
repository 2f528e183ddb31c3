"""The form of a job, new or edited, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from zoneinfo import available_timezones

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dashboard import formfields, forms
from dashboard.callableforms import fields_of, with_values
from dashboard.merging import Clash
from dashboard.once import once
from dashboard.presentation.callables import picker_of
from dashboard.presentation.edits import last_edit
from dashboard.presentation.foreseen import Foreseen, foresee
from dashboard.presentation.jobs import find
from dashboard.presentation.rows import Gone
from dashboard.views.acting import acted, actor_of
from dashboard.views.jobs import cancelled_in_words, find_or_404
from dashboard.views.pages import live_page
from jobs import actions
from jobs.actions.bodies import MASK
from jobs.actions.forms import raw_from_form
from jobs.actions.grants import variable_of
from jobs.actions.keeping import keep_of_site
from jobs.core.states import WAITING
from jobs.labels import CHOICES
from jobs.models import Calendar, Instance, Job, Limit, Secret

SIZES = ("cpu_cores_required", "memory_mb_required")
MOST_CALENDARS = 500
MOST_CORES = 1024  # of a number that is still being typed
GONE = "The job was deleted meanwhile. What you typed is still below; saving it makes a new job."


@sensitive_post_parameters()  # fields of parameters have the names that jobs give them
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def new_job(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        return once(request, lambda: _create(request))
    return form_page(request, forms.blank_form())


@sensitive_post_parameters()  # fields of parameters have the names that jobs give them
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def edit_job(request: HttpRequest, job_id: int) -> HttpResponse:
    """The stored job in the same form. Saving starts nothing, and undoes no edit that somebody else made meanwhile."""
    if request.method == "POST":
        return once(request, lambda: acted(request, lambda: _change(request, job_id)))
    job = find_or_404(job_id)
    return form_page(request, forms.edit_form(job), job=job)


def posted_in(request: HttpRequest, job: Job | None = None) -> dict[str, str]:
    """What was typed, with a file that was chosen in the place of the script. Raises InvalidInput."""
    posted = with_values(request.POST.dict(), job)
    file = request.FILES.get("script_file")
    if file is None or posted.get("runs") != "script_content":
        return posted
    name, size = str(file.name), int(file.size or 0)
    if size > formfields.LARGEST_UPLOAD:
        raise forms.too_large(name, size)
    return posted | {"script_content": forms.uploaded_text(name, file.read())}


def form_page(
    request: HttpRequest,
    form: forms.JobForm,
    status: int = HTTPStatus.OK,
    *,
    job: Job | None = None,
    refused: str = "",
    clashes: list[Clash] | None = None,
) -> HttpResponse:
    posted = request.POST.dict() if request.method == "POST" else None
    kept = f" {MASK} keeps the value that is stored." if job else ""
    context = {
        "form": form,
        "field": form.fields,
        "job": job,
        "refused": refused,
        "clashes": clashes,
        "changed": last_edit("job.changed", job_id=job.pk) if job and clashes else None,
        "open_folds": form.folds_with(clashes or ()),
        "runs": formfields.RUNS,
        "whens": {name: word for name, word in formfields.WHENS.items() if not (job and name == "now")},
        "expressions": formfields.EXPRESSIONS,
        "rules": formfields.RULES,
        "example": formfields.EXPRESSIONS.get(form.fields["when"].value, ("",))[0],
        "priorities": ("low", "medium", "high", "critical"),
        "choices": CHOICES,
        "calendars": calendar_names(),
        "site_keeps": keep_of_site(),
        "environment_hint": f"One variable a line.{kept}",
        "longest": formfields.LARGEST_UPLOAD,
        "zones": sorted(available_timezones()),
        "secret_names": list(Secret.objects.values_list("name", flat=True)),
        "rates": Limit.objects.filter(kind=Limit.Kind.RATE).values_list("name", flat=True),
        "waiting": Instance.objects.filter(job=job, status__in=WAITING).count() if job else 0,
        "callable_fields": fields_of(form.fields["callable"].value, job, posted, form.problems),
        "picker": picker_of(form.fields["callable"].value),
        "foreseen": foreseen({name: field.value for name, field in form.fields.items()}),
    }
    return live_page(request, "jobs/form.html", [], context, status=status)


def calendar_names() -> list[str]:
    return list(Calendar.objects.values_list("name", flat=True)[:MOST_CALENDARS])


def foreseen(texts: Mapping[str, str]) -> Foreseen:
    """The environment of the job that the form describes. What cannot be read as typed is left to saving."""
    raw = raw_from_form({name: texts.get(name, "") for name in ("environment", "secrets", *SIZES)})
    cores, memory_mb = (raw[name] if isinstance(raw[name], int) else 0 for name in SIZES)
    return foresee(
        {name: value or "" for name, value in (raw["environment"] or {}).items()},
        secrets={use.get("variable") or variable_of(use["name"]): use["name"] for use in raw["secrets"] or ()},
        name=texts.get("name", "").strip(),
        cores=min(max(1, cores), MOST_CORES),
        memory_mb=max(0, memory_mb),
        data_dir=settings.DATA_DIR,
        now=timezone.now(),
    )


def shared_with(changed: actions.Changed) -> str:
    return f" {', '.join(changed.with_it)} got the same schedule: they begin one workflow." if changed.with_it else ""


def _create(request: HttpRequest) -> HttpResponse:
    posted = request.POST.dict()
    start = posted.get("when") != "by_hand"
    try:
        posted = posted_in(request)
        created = actions.create_job(forms.job_input(posted), actor=actor_of(request), now=timezone.now(), start=start)
    except actions.InvalidInput as refusal:
        return form_page(request, forms.filled_form(posted, refusal.problems), HTTPStatus.UNPROCESSABLE_ENTITY)
    if created.instance_id is not None:
        return redirect("instance", created.instance_id)
    if posted.get("when", "now") == "now":  # it must be told a value that the form does not say
        messages.success(request, f"Created {created.name}. It has not run yet: give what it lacks.")
        return redirect("run-with", created.job_id)
    messages.success(request, f"Created {created.name}.")
    return redirect("job", created.job_id)


def _change(request: HttpRequest, job_id: int) -> HttpResponse:
    posted = request.POST.dict()
    try:
        job = find(job_id)
    except Gone:
        new = forms.filled_form({**posted, "revision": "", "seen": ""}, [])
        return form_page(request, new, HTTPStatus.NOT_FOUND, refused=GONE)
    try:
        posted = posted_in(request, job)
        if forms.revision_in(posted) != job.revision:
            form, clashes = forms.merged_form(posted, job)
            if clashes:
                return form_page(request, form, HTTPStatus.CONFLICT, job=job, clashes=clashes)
            # Paused, resumed, or changed in what this form does not show: nothing that saving would undo.
            posted |= {"revision": str(job.revision)}
        patch = forms.job_patch(posted, forms.stored_texts(job))
        changed = actions.change_job(
            job_id, patch, actor=actor_of(request), now=timezone.now(), revision=forms.revision_in(posted)
        )
    except actions.InvalidInput as refusal:
        # What was not asked is as it is stored: shown blank, it would be taken away by the next try.
        form = forms.filled_form({**forms.stored_texts(job), **posted}, refusal.problems)
        return form_page(request, form, HTTPStatus.UNPROCESSABLE_ENTITY, job=job)
    except actions.Refused as refusal:  # changed between the look and the wish
        form, clashes = forms.merged_form(posted, find_or_404(job_id))
        return form_page(request, form, HTTPStatus.CONFLICT, job=job, clashes=clashes, refused=refusal.sentence)
    messages.success(request, f"Saved.{shared_with(changed)}" if changed.changed else "Nothing was changed.")
    if "cancel_waiting" in posted:
        gone = actions.cancel_waiting(job_id, actor=actor_of(request), now=timezone.now())
        messages.success(request, cancelled_in_words(gone))
    return redirect("job", job_id)
