"""Instances that end without another attempt, the wish to stop one for a newer one, and jobs that pause themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from jobs.core.decisions import Dismiss, Finish, Pause, Withdraw
from jobs.models import Job, Schedule
from jobs.store import schedules, workflows
from jobs.store.events import NewEvent
from jobs.store.statement import RowsStatement

DISMISS = RowsStatement(
    {
        "id": "int",
        "from_status": "text",
        "status": "text",
        "code": "text",
        "error": "text",
        "blame_id": "int",
        "ended_at": "moment",
    },
    """
    UPDATE jobs_instance SET status = v.status, reason_code = v.code, error = v.error, ended_at = v.ended_at,
        blame_id = v.blame_id, hold_code = '', retry_at = NULL
    FROM {rows} WHERE jobs_instance.id = v.id AND jobs_instance.status = v.from_status
    RETURNING jobs_instance.id
    """,
)

# The job's revision stays: what was learnt from an end is no edit.
FAILURES = RowsStatement(
    {"job_id": "int", "count": "int"},
    """
    UPDATE jobs_job SET failures_in_a_row = v.count
    FROM {rows} WHERE jobs_job.id = v.job_id AND jobs_job.failures_in_a_row <> v.count RETURNING jobs_job.id
    """,
)

WITHDRAW = RowsStatement(
    {"id": "int", "by": "text", "at": "moment"},
    """
    UPDATE jobs_instance SET cancel_requested_at = v.at, cancel_requested_by = v.by
    FROM {rows} WHERE jobs_instance.id = v.id AND jobs_instance.status = 'running'
        AND jobs_instance.cancel_requested_at IS NULL
    RETURNING jobs_instance.id
    """,
)


def dismiss(decisions: Sequence[Dismiss], at: datetime, actor: str) -> tuple[set[int], list[NewEvent]]:
    """Returns the ids that did not move, and the events of those that did."""
    moved = {
        row[0]
        for row in DISMISS.run(
            (
                d.instance_id,
                d.from_status.value,
                d.status.value,
                d.code,
                d.reason,
                d.blame.instance_id if d.blame else None,
                at,
            )
            for d in decisions
        )
    }
    count_failures(decisions)
    events = [
        NewEvent(
            at,
            "instance.ended",
            d.job_id,
            d.instance_id,
            None,
            d.from_status.value,
            d.status.value,
            actor,
            {"code": d.code, "error": d.reason},
        )
        for d in decisions
        if d.instance_id in moved
    ]
    return {d.instance_id for d in decisions} - moved, events


def count_failures(decisions: Sequence[Dismiss | Finish]) -> None:
    """How many of their jobs' instances in a row have failed by these ends."""
    FAILURES.run({d.job_id: d.failures for d in decisions if d.failures is not None}.items())


def withdraw(decisions: Sequence[Withdraw], at: datetime, actor: str) -> list[NewEvent]:
    """One that ended meanwhile, or is asked to stop already, is no refusal."""
    moved = {row[0] for row in WITHDRAW.run((d.instance_id, actor, at) for d in decisions)}
    return [
        NewEvent(
            at,
            "instance.cancel_requested",
            d.job_id,
            d.instance_id,
            None,
            "running",
            "running",
            actor,
            {"reason": d.reason},
        )
        for d in decisions
        if d.instance_id in moved
    ]


def with_fellows(decisions: Sequence[Pause]) -> list[Pause]:
    """The jobs to pause, each with those that begin its workflow together with it."""
    return [replace(d, job_id=root) for d in decisions for root in [d.job_id, *workflows.fellow_roots(d.job_id)]]


def pause(decisions: Sequence[Pause], at: datetime) -> list[NewEvent]:
    """Pause these jobs, whose rows are locked.

    The event has no node as its actor, so that the engine that decided it follows it like any other.
    """
    events: list[NewEvent] = []
    for decision in decisions:
        if Job.objects.filter(pk=decision.job_id, paused_at=None).update(
            paused_at=at, paused_by=PAUSED_BY, updated_at=at
        ):
            for schedule in Schedule.objects.select_for_update().filter(job_id=decision.job_id):
                schedules.watch(schedule, at, paused=True)
            data = {"reason": decision.reason}
            events.append(NewEvent(at, "job.paused", decision.job_id, actor=PAUSED_BY, data=data))
    return events


# No user can be called so: their names have no colon.
PAUSED_BY = "rota:failures"
