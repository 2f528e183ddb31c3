"""A stored job as what one would have to submit to get it, and what an edit makes of that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from jobs.actions.bodies import BODIES, KIND_OF
from jobs.actions.grants import raw_of_uses
from jobs.actions.keeping import KEEPING_FIELDS
from jobs.actions.options import DEFAULTS, OPTION_FIELDS
from jobs.core.running import RUN_FIELDS, options_of
from jobs.models import Job, Schedule
from jobs.store import secrets
from jobs.store.schedules import spec_of as schedule_spec_of
from jobs.store.specs import JobSpec, ScheduleSpec

RETRIES_OF_ONCE = 3
# What is about one type of schedule more than about another.
OF_TYPE = ("schedule_expression", "start_date", "end_date", "gap", "fold", "jitter_seconds", "first_at_once")
# What the API and a JobSpec call the same.
SAME = (
    "name", "description", "python_version", "requirements", "environment", "timeout_seconds", "kill_grace_seconds",
    "max_retries",
    "retry_delay_seconds", "retry_max_delay_seconds", "retry_jitter", "retry_only_exit_codes",
    "retry_never_exit_codes", "pause_after_failures", "tenant", "deadline_seconds", "start_deadline_seconds",
    "max_running", "rates", "priority", "tags", "upstream_rule", "not_before", "keep_workspace", *KEEPING_FIELDS,
    "notify_email", "notify_webhook", "parameters", "parameter_values",
)  # fmt: skip
FIELD_OF_KIND: dict[str, str] = {kind.value: field for field, kind in BODIES.items()}


def spec_of(job: Job, schedule: Schedule | None, *, whole: bool = True) -> JobSpec:
    """Unless `whole`, without the fields that may be large, which a list does not load."""
    return JobSpec(
        name=job.name,
        kind=job.kind,
        body=job.body if whole else "",
        execution_model=job.execution_model,
        description=job.description,
        parameters=dict(job.parameters) if whole else {},
        parameter_values=dict(job.parameter_values) if whole else {},
        python_version=job.python_version,
        requirements=tuple(job.requirements),
        environment=dict(job.environment) if whole else {},
        secrets=secrets.uses_of(job),
        cores=job.cores,
        memory_mb=job.memory_mb,
        timeout_seconds=job.timeout_seconds,
        kill_grace_seconds=job.kill_grace_seconds,
        priority=job.priority,
        max_retries=job.max_retries,
        retry_delay_seconds=job.retry_delay_seconds,
        retry_max_delay_seconds=job.retry_max_delay_seconds,
        retry_jitter=job.retry_jitter,
        upstreams=tuple(sorted(edge.upstream_id for edge in job.upstream_edges.all())),
        upstream_rule=job.upstream_rule,
        not_before=job.not_before,
        retry_only_exit_codes=tuple(job.retry_only_exit_codes),
        retry_never_exit_codes=tuple(job.retry_never_exit_codes),
        pause_after_failures=job.pause_after_failures,
        tenant=job.tenant,
        deadline_seconds=job.deadline_seconds,
        start_deadline_seconds=job.start_deadline_seconds,
        max_running=job.max_running,
        rates=tuple(job.rates),
        run=options_of(job),
        keep_workspace=job.keep_workspace,
        keep_days=job.keep_days,
        keep_failed_days=job.keep_failed_days,
        keep_instances=job.keep_instances,
        tags=tuple(job.tags),
        notify_email=job.notify_email,
        notify_webhook=job.notify_webhook,
        schedule=schedule_spec_of(schedule),
    )


def raw_of(spec: JobSpec) -> dict[str, Any]:
    """The API's fields, complete. Moments are ISO texts in the schedule's zone. Reading them again gives the spec."""
    when = spec.schedule
    zone = zone_to_show(when.zone) if when else None
    body = {field: spec.body if FIELD_OF_KIND[spec.kind] == field else None for field in BODIES}
    return {
        **{name: _plain(getattr(spec, name)) for name in SAME},
        **{name: _plain(getattr(spec.run, name)) for name in RUN_FIELDS},
        **body,
        "secrets": raw_of_uses(spec.secrets),
        "kind": KIND_OF[Job.Kind(spec.kind)],
        "cpu_cores_required": spec.cores,
        "memory_mb_required": spec.memory_mb,
        "depends_on": list(spec.upstreams),
        "schedule_type": when.type if when else "once",
        "schedule_expression": (when.expression or None) if when else None,
        "start_date": when.start_at.astimezone(zone).isoformat() if when and when.start_at else None,
        "end_date": when.end_at.astimezone(zone).isoformat() if when and when.end_at else None,
        "timezone": when.zone if when else None,
        **_options(when or DEFAULTS),
    }


def _plain(value: Any) -> Any:
    """As JSON has it."""
    return list(value) if isinstance(value, tuple) else value


def zone_to_show(name: str) -> ZoneInfo:
    """The zone of a stored name; UTC for one that has left the tz data meanwhile, which its schedule's fault tells."""
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        return ZoneInfo("UTC")


def default_retries(schedule_type: str | None, *, waits: bool = False) -> int:
    """The next fire is the retry of what repeats; what waits for other jobs runs as often as they do."""
    return RETRIES_OF_ONCE if schedule_type in (None, "once") and not waits else 0


def edited(spec: JobSpec, patch: Mapping[str, Any]) -> dict[str, Any]:
    """The fields after an edit: those of the patch, and the others as they are.

    Another body replaces the one that there is (and with it that it needs no core), and another type of schedule takes
    none of the old one's times along, nor the number of retries that a type has by itself. Who takes the schedule away
    takes its finer choices away.
    """
    raw = raw_of(spec)
    if any(patch.get(field) for field in BODIES):
        raw |= dict.fromkeys((*BODIES, "kind"))
        if spec.kind == Job.Kind.CALLABLE or patch.get("callable"):  # it takes what its signature says
            raw |= dict.fromkeys(("parameters", "parameter_values"))
        if patch.get("callable"):  # it has the project's packages
            raw |= dict.fromkeys(("python_version", "requirements"))
        raw["cpu_cores_required"] = spec.cores or None  # none is right for what shares a process, and for nothing else
    if patch.get("schedule_type", raw["schedule_type"]) != raw["schedule_type"]:
        raw |= dict.fromkeys(OF_TYPE)
    wanted = raw | dict(patch)
    if wanted["schedule_type"] in (None, "once") and not wanted["start_date"]:
        wanted |= {name: patch.get(name) for name in OPTION_FIELDS}
    now_default = default_retries(raw["schedule_type"], waits=bool(spec.upstreams))
    if spec.max_retries == now_default and "max_retries" not in patch:
        wanted["max_retries"] = None
    return wanted


def _options(when: ScheduleSpec) -> dict[str, Any]:
    values = {name: getattr(when, name) for name in OPTION_FIELDS if name != "calendar"}
    return {"calendar": when.calendar_name or None} | values
