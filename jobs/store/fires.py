"""A schedule's fire and the instance that it makes: together or not at all, and once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from jobs.core.decisions import Fire, Flag
from jobs.core.records import Instance
from jobs.core.states import UNFINISHED, Status
from jobs.store.events import NewEvent
from jobs.store.statement import RowsStatement

# last_logical_at only rises: whoever fires second, a stale engine or another node, finds zero rows. An edit moves
# watched_from: PostgreSQL may judge the subquery by what was before an edit that it waited for, but not the row itself.
FIRE = RowsStatement(
    {"id": "int", "revision": "int", "logical_at": "moment", "next_at": "moment", "missed": "int"},
    """
    UPDATE jobs_schedule SET last_logical_at = v.logical_at, next_at = v.next_at,
        missed_count = missed_count + v.missed
    FROM {rows} WHERE jobs_schedule.id = v.id AND jobs_schedule.watched_from < v.logical_at
        AND (jobs_schedule.last_logical_at IS NULL OR jobs_schedule.last_logical_at < v.logical_at)
        AND EXISTS (SELECT 1 FROM jobs_job WHERE jobs_job.id = jobs_schedule.job_id
                    AND jobs_job.revision = v.revision AND jobs_job.paused_at IS NULL)
    RETURNING jobs_schedule.id
    """,
)

COUNT = RowsStatement(
    {"id": "int", "ran": "int", "skipped": "int"},
    """
    UPDATE jobs_schedule SET run_count = run_count + v.ran, skipped_count = skipped_count + v.skipped,
        skipped_in_a_row = CASE WHEN v.skipped > 0 THEN skipped_in_a_row + v.skipped ELSE 0 END
    FROM {rows} WHERE jobs_schedule.id = v.id
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

_UNFINISHED = ", ".join(f"'{status}'" for status in sorted(UNFINISHED))

# The engine looked for an overlap already; another node may have queued one since.
INSERT = RowsStatement(
    {
        "job_id": "int",
        "schedule_id": "int",
        "logical_at": "moment",
        "queued_at": "moment",
        "order_key": "int",
        "created_at": "moment",
    },
    f"""
    INSERT INTO jobs_instance (job_id, schedule_id, logical_at, due_at, queued_at, order_key, created_at,
        status, cause, hold_code, generation, attempt_count, lost_count, token, cores, virtual_cores, memory_mb,
        hold_subject, cancel_requested_by, error, created_by)
    SELECT v.job_id, v.schedule_id, v.logical_at, v.logical_at, v.queued_at, v.order_key, v.created_at,
        'queued', 'schedule', 'turn', 0, 0, 0, '', '[]', 0, 0, '{{}}', '', '', ''
    FROM {{rows}} WHERE NOT EXISTS (SELECT 1 FROM jobs_instance AS other
                                  WHERE other.job_id = v.job_id AND other.status IN ({_UNFINISHED}))
    ON CONFLICT (job_id, logical_at, generation) DO NOTHING
    RETURNING id, schedule_id
    """,
)


def fire(decisions: Sequence[Fire], at: datetime, actor: str) -> tuple[set[int], list[Instance], list[NewEvent]]:
    """Returns schedules that had fired already, the instances that were made, and the events of both kinds of fire."""
    fired = {
        row[0]
        for row in FIRE.run((d.schedule_id, d.job_revision, d.logical_at, d.next_at, d.missed) for d in decisions)
    }
    won = [d for d in decisions if d.schedule_id in fired]
    ids = {schedule_id: id_ for id_, schedule_id in INSERT.run(_row(d, at) for d in won if not d.reason)}
    COUNT.run((d.schedule_id, int(d.schedule_id in ids), int(d.schedule_id not in ids)) for d in won)
    born = [_born(d, ids[d.schedule_id]) for d in won if d.schedule_id in ids]
    events = [_event(d, ids.get(d.schedule_id), at, actor) for d in won]
    return {d.schedule_id for d in decisions} - fired, born, events


def flag(decisions: Sequence[Flag], at: datetime, actor: str) -> list[NewEvent]:
    """Set schedules aside that cannot be used; an edit of the schedule clears the fault."""
    FLAG.run((d.schedule_id, d.fault) for d in decisions)
    return [
        NewEvent(at, "schedule.flagged", d.job_id, actor=actor, data={"fault": d.fault, "schedule": d.schedule_id})
        for d in decisions
    ]


def _row(fire: Fire, at: datetime) -> tuple[object, ...]:
    return fire.job_id, fire.schedule_id, fire.logical_at, fire.queued_at, fire.order_key, at


def _born(fire: Fire, instance_id: int) -> Instance:
    return Instance(
        instance_id,
        fire.job_id,
        Status.QUEUED,
        fire.logical_at,
        fire.logical_at,
        schedule_id=fire.schedule_id,
        queued_at=fire.queued_at,
        order_key=fire.order_key,
    )


def _event(fire: Fire, instance_id: int | None, at: datetime, actor: str) -> NewEvent:
    data = {"logical_at": fire.logical_at.isoformat(), "missed": fire.missed}
    if instance_id is None:
        reason = fire.reason or "overlap: an instance of this job has not ended, or this date has one already"
        return NewEvent(at, "schedule.skipped", fire.job_id, actor=actor, data={**data, "reason": reason})
    return NewEvent(at, "instance.queued", fire.job_id, instance_id, to_status="queued", actor=actor, data=data)
