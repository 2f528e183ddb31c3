"""Jobs in admin: edited with their schedule; run, paused, resumed and deleted in bulk."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html

from jobs import actions
from jobs.actions import Deleted
from jobs.actions.options import OPTION_FIELDS
from jobs.admin.bulk_view import bulk_edit
from jobs.admin.filters import TagFilter
from jobs.admin.job_form import JobForm
from jobs.admin.outcomes import act_on_each
from jobs.admin.readonly import ListStyle, moment, shown_moment
from jobs.admin.refused import RefusalsTold
from jobs.core.graph import in_order
from jobs.core.invalid import InvalidSchedule
from jobs.core.running import RUN_FIELDS
from jobs.core.states import LIVE
from jobs.models import LARGE, Instance, Job
from jobs.store import read
from jobs.store.schedules import spec_of, trigger_of


@admin.register(Job)
class JobAdmin(RefusalsTold, ListStyle, admin.ModelAdmin):  # type: ignore[type-arg]  # no generic at run time
    form = JobForm
    list_display = (
        "name", "runs", "next_run", moment("paused_at", "paused"), "cores", "memory_mb", "priority", "kind",
        "execution_model", "created_by",
    )  # fmt: skip
    list_filter = (
        ("paused_at", admin.EmptyFieldListFilter), TagFilter, "kind", "execution_model", "priority", "schedule__type",
        "schedule__zone",
        ("created_by", admin.RelatedOnlyFieldListFilter),
    )  # fmt: skip
    list_select_related = ("schedule__calendar", "created_by")
    list_per_page = 50
    search_fields = ("name", "description")
    show_full_result_count = False
    readonly_fields = (
        "paused_at",
        "paused_by",
        "delete_requested_at",
        "delete_requested_by",
        "created_by",
        "created_at",
        "updated_at",
        "runs",
        "next_run",
    )
    actions = ("change_jobs", "run_now", "pause", "resume", "delete_jobs")
    fieldsets = (
        (None, {"fields": ("name", "description", "script_content", "script_path", "command", "callable", "revision")}),
        ("When", {"fields": ("schedule_type", "schedule_expression", "start_date", "end_date", "timezone")}),
        ("After other jobs", {"fields": ("depends_on", "upstream_rule", "not_before")}),
        ("When, in detail", {"fields": OPTION_FIELDS, "classes": ("collapse",)}),
        ("Needs", {"fields": ("cpu_cores_required", "memory_mb_required", "priority", "environment", "secrets")}),
        ("Parameters", {"fields": ("parameters", "parameter_values"), "classes": ("collapse",)}),
        ("Packages", {"fields": ("python_version", "requirements")}),
        (
            "Order and limits",
            {"fields": ("max_running", "rates", "tenant", "deadline_seconds", "start_deadline_seconds")},
        ),
        (
            "Time limit and failure",
            {
                "fields": (
                    "timeout_seconds", "kill_grace_seconds", "max_retries", "retry_delay_seconds",
                    "retry_max_delay_seconds", "retry_jitter", "retry_only_exit_codes", "retry_never_exit_codes",
                    "pause_after_failures", "notify_email", "notify_webhook",
                )
            },
        ),
        ("How it is run", {"fields": RUN_FIELDS, "classes": ("collapse",)}),
        ("Other", {"fields": ("tags", "keep_workspace", "keep_days", "keep_failed_days", "keep_instances")}),
        ("As it is", {"fields": readonly_fields}),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        found: QuerySet[Job] = super().get_queryset(request)
        is_list = request.resolver_match is not None and request.resolver_match.url_name == "jobs_job_changelist"
        return found.defer(*LARGE) if is_list else found

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - Django's signature
        """Not Django's way: it knows nothing of processes, and loads the whole history to list it."""
        return False

    def has_remove_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("jobs.delete_job")

    @admin.display(description="schedule")
    def runs(self, job: Job) -> str:
        schedule = getattr(job, "schedule", None)
        if schedule is None or spec_of(schedule) is None:
            return "only when asked"
        try:
            return schedule.fault or trigger_of(schedule).describe()
        except InvalidSchedule as refusal:
            return refusal.sentence

    @admin.display(description="next run", ordering="schedule__next_at")
    def next_run(self, job: Job) -> Any:
        schedule = getattr(job, "schedule", None)
        return shown_moment(schedule.next_at if schedule else None)

    # --- One job ---

    def save_model(self, request: HttpRequest, obj: Job, form: JobForm, change: bool) -> None:
        """Saving starts nothing, here as everywhere; "run now" does."""
        actor, now = request.user.get_username(), timezone.now()
        if change:
            actions.change_job(obj.pk, form.raw, actor=actor, now=now, revision=form.edited_revision)
        else:
            obj.pk = actions.create_job(form.raw, actor=actor, now=now, start=False).job_id
        obj.refresh_from_db()

    # --- Many ---

    @admin.action(description="Change…", permissions=["change"])
    def change_jobs(self, request: HttpRequest, jobs: QuerySet[Job]) -> HttpResponse | None:
        return bulk_edit(self, request, jobs)

    @admin.action(description="Run now…", permissions=["change"])
    def run_now(self, request: HttpRequest, jobs: QuerySet[Job]) -> HttpResponse | None:
        return bulk_edit(self, request, jobs, {"run_now": "on"})

    @admin.action(description="Pause…", permissions=["change"])
    def pause(self, request: HttpRequest, jobs: QuerySet[Job]) -> HttpResponse | None:
        return bulk_edit(self, request, jobs, {"state": "pause"})

    @admin.action(description="Resume…", permissions=["change"])
    def resume(self, request: HttpRequest, jobs: QuerySet[Job]) -> HttpResponse | None:
        return bulk_edit(self, request, jobs, {"state": "resume"})

    @admin.action(description="Delete with history…", permissions=["remove"])
    def delete_jobs(self, request: HttpRequest, jobs: QuerySet[Job]) -> HttpResponse | None:
        """Asks first; with "cancel" what waits and runs is cancelled."""
        if request.POST.get("confirmed"):
            delete = partial(
                actions.delete_job, cancel_live="cancel" in request.POST, release="release" in request.POST
            )
            act_on_each(request, _lowest_first(jobs), partial(_delete, request, delete), "{} job{s} deleted")
            return None
        ids = ids_of(jobs)
        waiting = actions.shown_names(actions.waiting_outside(ids, lambda: ids))
        chosen = Job.objects.filter(pk__in=ids).only("name").order_by("name")
        live = Instance.objects.filter(job__in=ids, status__in=LIVE).count()
        context = {"title": "Delete jobs", "jobs": chosen, "live": live, "waiting": waiting, "opts": self.model._meta}
        return TemplateResponse(request, "admin/jobs/delete_jobs.html", self.admin_site.each_context(request) | context)


def ids_of(jobs: QuerySet[Job]) -> Iterable[int]:
    return list(jobs.order_by("pk").values_list("pk", flat=True))


def _lowest_first(jobs: QuerySet[Job]) -> list[int]:
    """What waits before what it waits for: if one stays, so does all that it needs."""
    return in_order(ids_of(jobs), read.workflows().upstreams)[::-1]


def _delete(request: HttpRequest, delete: Any, job_id: int, **act: Any) -> bool:
    answer: Deleted = delete(job_id, **act)
    if not answer.gone:
        stopping = f"{answer.running} of its instances are" if answer.running > 1 else "one of its instances is"
        sentence = "Job {} is being deleted: {} being stopped, and it goes by itself after that."
        messages.warning(request, format_html(sentence, job_id, stopping))
    return answer.gone
