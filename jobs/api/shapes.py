"""Jobs, instances and attempts as the API's objects; `jobs.api.answers` names their fields."""

from __future__ import annotations

import json
from typing import Any

from jobs.actions.bodies import BODIES, MASK
from jobs.actions.definition import raw_of, spec_of, zone_to_show
from jobs.api.moments import iso
from jobs.api.outputs import Output, rundir_of
from jobs.core.invalid import InvalidSchedule
from jobs.execution.markers import read_progress
from jobs.holds import HoldView
from jobs.models import LARGE, Attempt, Instance, Job, Schedule
from jobs.parameters.masking import masked
from jobs.store.schedules import spec_of as schedule_spec_of
from jobs.store.schedules import trigger_of


def listed_job(job: Job) -> dict[str, Any]:
    """The fields that can be submitted, as they are stored, and what the server knows; not what it runs."""
    schedule = schedule_of(job)
    raw = raw_of(spec_of(job, schedule, whole=False))
    fields = {name: value for name, value in raw.items() if name not in (*BODIES, *LARGE)}
    return fields | {
        "job_id": job.pk,
        "execution_model": job.execution_model,
        "priority_name": job.get_priority_display(),
        "schedule": words_of(schedule),
        "next_run": iso(schedule.next_at, zone_to_show(schedule.zone)) if schedule else None,
        "paused": job.paused,
        "paused_at": iso(job.paused_at),
        "paused_by": job.paused_by,
        "delete_requested_at": iso(job.delete_requested_at),
        "failures_in_a_row": job.failures_in_a_row,
        "revision": job.revision,
        "created_by": job.created_by.get_username() if job.created_by else None,
        "created_at": iso(job.created_at),
        "updated_at": iso(job.updated_at),
    }


def full_job(job: Job) -> dict[str, Any]:
    """With what it runs. The values of its variables are masked, for they may be secrets; of parameters, by name."""
    raw = raw_of(spec_of(job, schedule_of(job)))
    given = {
        "parameters": raw["parameters"],
        "parameter_values": masked(raw["parameter_values"]),
        "environment": dict.fromkeys(raw["environment"], MASK),
    }
    return listed_job(job) | {field: raw[field] for field in BODIES} | given


def schedule_of(job: Job) -> Schedule | None:
    return getattr(job, "schedule", None)


def words_of(schedule: Schedule | None) -> str:
    """When the job runs, in words."""
    if schedule is None or schedule_spec_of(schedule) is None:
        return "only when asked"
    try:
        return trigger_of(schedule).describe()
    except InvalidSchedule as refusal:
        return refusal.sentence


def instance_shape(instance: Instance, output: Output, hold: HoldView | None) -> dict[str, Any]:
    """`instance` has its job, its node, and its attempts with their nodes at hand."""
    return {
        "instance_id": instance.pk,
        "job_id": instance.job_id,
        "job_name": instance.job.name,
        "status": instance.status,
        "logical_at": iso(instance.logical_at),
        "scheduled_at": iso(instance.due_at),
        "queued_at": iso(instance.queued_at),
        "started_at": iso(instance.started_at),
        "completed_at": iso(instance.ended_at),
        "exit_code": instance.exit_code,
        "signal": instance.signal,
        "output": output.printed,
        "error": output.error,
        "reason": instance.error,
        "cores": instance.cores,
        "virtual_cores": instance.virtual_cores,
        "memory_mb_allocated": instance.memory_mb,
        "node": instance.node.name if instance.node else None,
        "retry_count": max(0, instance.attempt_count - 1),
        "attempts": [attempt_shape(attempt) for attempt in instance.attempts.all()],
        "hold": hold_shape(hold),
        "generation": instance.generation,
        "cause": instance.cause,
        "retry_of": instance.retry_of_id,
        "first_cause": instance.blame_id,
        "backfill": instance.backfill_id,
        "cancel_requested_at": iso(instance.cancel_requested_at),
        "cancel_requested_by": instance.cancel_requested_by,
        "created_by": instance.created_by,
        "created_at": iso(instance.created_at),
    }


def attempt_shape(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "status": attempt.status,
        "outcome": attempt.outcome or None,
        "node": attempt.node.name,
        "cores": attempt.cores,
        "virtual_cores": attempt.virtual_cores,
        "memory_mb_allocated": attempt.memory_mb,
        "created_at": iso(attempt.created_at),
        "started_at": iso(attempt.started_at),
        "completed_at": iso(attempt.ended_at),
        "exit_code": attempt.exit_code,
        "signal": attempt.signal,
        "reason": attempt.error,
        "duration_seconds": attempt.duration_seconds,
        "cpu_seconds": attempt.cpu_seconds,
        "peak_memory_bytes": attempt.peak_memory_bytes,
        "descendants_ended": attempt.descendants_ended,
        "abandoned_at": iso(attempt.abandoned_at),
        "progress": progress_shape(attempt),
        "result": json.loads(attempt.result) if attempt.result else None,
    }


def progress_shape(attempt: Attempt) -> dict[str, Any] | None:
    """What an attempt that runs has told of itself. Reads a file."""
    told = read_progress(rundir_of(attempt)) if attempt.status == "running" else None
    return told._asdict() if told else None


def hold_shape(hold: HoldView | None) -> dict[str, Any] | None:
    if hold is None:
        return None
    return {
        "code": hold.code,
        "sentence": hold.sentence,
        "predicted_start": iso(hold.predicted_start),
        "unknown_because": hold.unknown_because,
    }
