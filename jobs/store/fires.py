"""A schedule's fire and the instance that it makes: together or not at all, and once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from jobs.core.decisions import Fire, Flag
from jobs.core.records import Instance
from jobs.store.events import NewEvent
from jobs.store.statement import RowsStatement

# last_logical_at only rises: whoever fires second, a stale engine or another node, finds zero rows.
FIRE = RowsStatement(
    {
        "id": "int",
        "revision": "int",
        "logical_at": "moment",
        "next_at": "moment",
        "ran": "int",
        "missed": "int",
        "skipped": "int",
    },
    """
    UPDATE jobs_schedule SET last_logical_at = v.logical_at, next_at = v.next_at,
        run_count = run_count + v.ran, missed_count = missed_count + v.missed,
        skipped_count = skipped_count + v.skipped,
        skipped_in_a_row = CASE WHEN v.skipped > 0 THEN skipped_in_a_row + v.skipped ELSE 0 END
    FROM {rows} WHERE jobs_schedule.id = v.id
        AND (jobs_schedule.last_logical_at IS NULL OR jobs_schedule.last_logical_at < v.logical_at)
        AND EXISTS (SELECT 1 FROM jobs_job WHERE jobs_job.id = jobs_schedule.job_id
                    AND jobs_job.revision = v.revision AND jobs_job.paused_at IS NULL)
    RETURNING jobs_schedule.id
    """,
)

FLAG = RowsStatement(
    {"id": "int", "fault": "text"},
    """
    UPDATE jobs_schedule SET fault = v.fault, next_at = NULL
    FROM {rows} WHERE jobs_schedule.id = v.id
    RETURNING jobs_schedule.id
    """,
)

INSERT = RowsStatement(
    {
        "id": "int",
        "job_id": "int",
        "schedule_id": "int",
        "logical_at": "moment",
        "generation": "int",
        "status": "text",
        "due_at": "moment",
        "queued_at": "moment",
        "order_key": "int",
        "hold_code": "text",
        "created_at": "moment",
    },
    """
    INSERT INTO jobs_instance (id, job_id, schedule_id, logical_at, generation, status, due_at, queued_at, order_key,
        hold_code, created_at, cause, attempt_count, lost_count, token, cores, virtual_cores, memory_mb, hold_subject,
        cancel_requested_by, error, created_by)
    SELECT id, job_id, schedule_id, logical_at, generation, status, due_at, queued_at, order_key,
        hold_code, created_at, 'schedule', 0, 0, '', '[]', 0, 0, '{}', '', '', ''
    FROM {rows} WHERE true
    ON CONFLICT (job_id, logical_at, generation) DO NOTHING
    RETURNING id
    """,
)


def fire(decisions: Sequence[Fire], at: datetime, actor: str) -> tuple[set[int], set[int], list[NewEvent]]:
    """Returns schedules that had fired already, instances that were not made, and the events of the rest."""
    fired = {
        row[0]
        for row in FIRE.run(
            (
                d.schedule_id,
                d.job_revision,
                d.logical_at,
                d.next_at,
                int(d.instance is not None),
                d.missed,
                int(d.instance is None),
            )
            for d in decisions
        )
    }
    won = [d for d in decisions if d.schedule_id in fired]
    made = {row[0] for row in INSERT.run(_row(d.instance, at) for d in won if d.instance is not None)}
    events = [_event(d, at, actor) for d in won if d.instance is None or d.instance.id in made]
    wanted = {d.instance.id for d in decisions if d.instance is not None}
    return {d.schedule_id for d in decisions} - fired, wanted - made, events


def flag(decisions: Sequence[Flag], at: datetime, actor: str) -> list[NewEvent]:
    """Set schedules aside that cannot be used; an edit of the schedule clears the fault."""
    FLAG.run((d.schedule_id, d.fault) for d in decisions)
    return [
        NewEvent(at, "schedule.flagged", d.job_id, actor=actor, data={"fault": d.fault, "schedule": d.schedule_id})
        for d in decisions
    ]


def _row(instance: Instance, at: datetime) -> tuple[object, ...]:
    return (
        instance.id,
        instance.job_id,
        instance.schedule_id,
        instance.logical_at,
        instance.generation,
        instance.status.value,
        instance.due_at,
        instance.queued_at,
        instance.order_key,
        "turn",
        at,
    )


def _event(decision: Fire, at: datetime, actor: str) -> NewEvent:
    logical_at = decision.logical_at.isoformat()
    if decision.instance is None:
        data = {"logical_at": logical_at, "reason": decision.reason, "missed": decision.missed}
        return NewEvent(at, "schedule.skipped", decision.job_id, actor=actor, data=data)
    return NewEvent(
        at,
        "instance.queued",
        decision.job_id,
        decision.instance.id,
        to_status=decision.instance.status.value,
        actor=actor,
        data={"logical_at": logical_at, "missed": decision.missed},
    )
