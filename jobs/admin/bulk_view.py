"""The page between ticking jobs and changing them: say what, see what changes, do it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from jobs.admin.bulk import Done, Row, apply, plan
from jobs.admin.bulk_form import BulkEdit, BulkForm
from jobs.admin.choosing import chosen_of, is_second_click, page_of
from jobs.admin.outcomes import answers_of, counted, tell_refusals
from jobs.models import Job
from jobs.store.secrets import prefetch_uses

ACTION = "change_jobs"
TOLD = {
    "paused": "{} job{s} paused",
    "resumed": "{} job{s} resumed",
    "changed": "{} job{s} changed",
    "submitted": "{} instance{s} submitted",
    "cleared": "{} job{s} rid of what waited",
}


def bulk_edit(
    admin: ModelAdmin[Job], request: HttpRequest, jobs: QuerySet[Job], wish: Mapping[str, str] | None = None
) -> HttpResponse | None:
    """The form; its preview, also of a `wish` that needs no form; None when it was done."""
    chosen = chosen_of(request, jobs)
    if chosen is None:
        return None
    step = request.POST.get("step", "preview" if wish else "form")
    form = BulkForm(wish or (request.POST if step != "form" or "chosen" in request.POST else None))
    if step == "form" or not form.is_valid():
        return _page(admin, request, form, _rows(BulkEdit(), chosen), step="form")
    if step == "apply":
        if not is_second_click(request):
            _apply(request, form.edit, chosen)
        return None
    return _page(admin, request, form, _rows(form.edit, chosen), step="preview")


def _rows(edit: BulkEdit, chosen: Mapping[int, int | None]) -> list[Row]:
    jobs = Job.objects.filter(pk__in=chosen).select_related("schedule__calendar").order_by("name")
    jobs = jobs.prefetch_related("upstream_edges", prefetch_uses())
    return list(plan(edit, jobs.iterator(chunk_size=100), now=timezone.now()))


def _page(admin: ModelAdmin[Job], request: HttpRequest, form: BulkForm, rows: list[Row], *, step: str) -> HttpResponse:
    titles = {"form": "Change jobs", "preview": "What this changes"}
    context = {
        **admin.admin_site.each_context(request),
        **page_of(rows, ACTION),
        "title": titles[step],
        "opts": admin.opts,
        "form": form,
        "step": step,
        "editable": True,
    }
    return TemplateResponse(request, "admin/jobs/bulk.html", context)


def _apply(request: HttpRequest, edit: BulkEdit, chosen: Mapping[int, int | None]) -> None:
    def one(job_id: int, **act: Any) -> Done:
        return apply(edit, job_id, revision=chosen[job_id], **act)

    done, refusals = answers_of(request, chosen, one)
    wished = {
        "paused": edit.state == "pause",
        "resumed": edit.state == "resume",
        "submitted": edit.run_now,
        "cleared": edit.cancel_waiting,
    }
    for what, sentence in TOLD.items():
        if wished.get(what, bool(edit.patch(()))):
            messages.success(request, counted(sentence, sum(getattr(answer, what) for answer in done)))
    tell_refusals(request, refusals)
