"""A schedule's fire and the instances that it makes: together or not at all, and once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from jobs.core.decisions import Birth, Fire, Flag, Rearm, Skip
from jobs.core.records import Instance
from jobs.core.states import UNFINISHED
from jobs.store.events import NewEvent
from jobs.store.rows import read_moment
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
        skipped_in_a_row = CASE WHEN v.ran > 0 OR v.skipped = 0 THEN 0 ELSE skipped_in_a_row + v.skipped END
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

# An edit or a pause has said what comes next, and knew of the end; or another node has, and fires at its moment.
REARM = RowsStatement(
    {"id": "int", "revision": "int", "next_at": "moment"},
    """
    UPDATE jobs_schedule SET next_at = v.next_at
    FROM {rows} WHERE jobs_schedule.id = v.id AND jobs_schedule.fault = '' AND jobs_schedule.next_at IS NULL
        AND EXISTS (SELECT 1 FROM jobs_job WHERE jobs_job.id = jobs_schedule.job_id
                    AND jobs_job.revision = v.revision AND jobs_job.paused_at IS NULL)
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
        "due_at": "moment",
        "status": "text",
        "queued_at": "moment",
        "order_key": "int",
        "serial": "bool",
        "bound": "int",
        "created_at": "moment",
    },
    f"""
    INSERT INTO jobs_instance (job_id, schedule_id, logical_at, due_at, status, queued_at, order_key, serial,
        created_at, cause, hold_code, generation, attempt_count, lost_count, token, cores, virtual_cores, memory_mb,
        hold_subject, cancel_requested_by, error, created_by, reason_code)
    SELECT v.job_id, v.schedule_id, v.logical_at, v.due_at, v.status, v.queued_at, v.order_key, v.serial,
        v.created_at, 'schedule', CASE WHEN v.status = 'queued' THEN 'turn' ELSE '' END, 0, 0, 0, '', '[]', 0, 0,
        '{{}}', '', '', '', ''
    FROM {{rows}} WHERE v.bound IS NULL
        OR (SELECT count(*) FROM jobs_instance AS other
            WHERE other.job_id = v.job_id AND other.status IN ({_UNFINISHED}) AND other.backfill_id IS NULL)
            < v.bound
    ON CONFLICT (job_id, logical_at, generation) DO NOTHING
    RETURNING id, job_id, schedule_id, logical_at
    """,
)

_OVERLAP = "overlap: an instance of this job has not ended, or this date has one already"


@dataclass(slots=True)
class Fired:
    """`refused`: schedules that had fired already. Then the instances that were made, and the events of all."""

    refused: set[int] = field(default_factory=set)
    born: list[Instance] = field(default_factory=list)
    events: list[NewEvent] = field(default_factory=list)


def fire(decisions: Sequence[Fire], at: datetime, actor: str) -> Fired:
    """Make the fires that are still to be made, with their instances and what they skip."""
    rows = [(d.schedule_id, d.job_revision, d.logical_at, d.next_at, d.missed) for d in decisions]
    won = {row[0] for row in FIRE.run(rows)}
    result = Fired({d.schedule_id for d in decisions} - won)
    fires = [d for d in decisions if d.schedule_id in won]
    own = _insert([(d, birth) for d in fires for birth in d.births if birth.job_id == d.job_id], at)
    # What waits for the job of the schedule is made where that was made, and nowhere else.
    dates = {(instance.schedule_id, instance.logical_at) for instance in own}
    below = [
        (d, birth)
        for d in fires
        for birth in d.births
        if birth.job_id != d.job_id and (d.schedule_id, birth.logical_at) in dates
    ]
    result.born = [*own, *_insert(below, at)]
    missed = {d.schedule_id: d.missed for d in fires}
    result.events = [_born(i, missed.get(i.schedule_id or 0, 0), at, actor) for i in result.born]
    skipped = {d.schedule_id: [*d.skips, *_not_made(d, dates)] for d in fires}
    result.events += [_skipped(d, skip, at, actor) for d in fires for skip in skipped[d.schedule_id]]
    ran = Counter(instance.schedule_id for instance in own)
    COUNT.run((d.schedule_id, ran[d.schedule_id], _count(skipped[d.schedule_id])) for d in fires)
    return result


def rearm(decisions: Sequence[Rearm]) -> set[int]:
    """Returns the schedules of those that were refused."""
    rows = [(d.schedule_id, d.job_revision, d.next_at) for d in decisions]
    return {d.schedule_id for d in decisions} - {row[0] for row in REARM.run(rows)}


def flag(decisions: Sequence[Flag], at: datetime, actor: str) -> list[NewEvent]:
    """Set schedules aside that cannot be used; an edit of the schedule clears the fault."""
    FLAG.run((d.schedule_id, d.fault) for d in decisions)
    return [
        NewEvent(at, "schedule.flagged", d.job_id, actor=actor, data={"fault": d.fault, "schedule": d.schedule_id})
        for d in decisions
    ]


def _insert(births: Sequence[tuple[Fire, Birth]], at: datetime) -> list[Instance]:
    """Those that were made, in the order given."""
    rows = [
        (
            b.job_id,
            d.schedule_id,
            b.logical_at,
            b.due_at,
            b.status.value,
            b.queued_at,
            b.order_key,
            b.serial,
            b.bound,
            at,
        )
        for d, b in births
    ]
    ids = {(job_id, read_moment(logical_at)): id_ for id_, job_id, _, logical_at in INSERT.run(rows)}
    made: list[Instance] = []
    for d, birth in births:
        # Two roots of one workflow make the same dependents: the first of them did.
        instance_id = ids.pop((birth.job_id, birth.logical_at), None)
        if instance_id is not None:
            made.append(birth.instance(instance_id, d.schedule_id))
    return made


def _not_made(fire: Fire, dates: set[tuple[int | None, datetime]]) -> list[Skip]:
    """Dates for which the store found an instance, or too many, that the engine did not know of."""
    return [
        Skip("overlap", _OVERLAP, birth.logical_at)
        for birth in fire.births
        if birth.job_id == fire.job_id and (fire.schedule_id, birth.logical_at) not in dates
    ]


def _count(skips: Sequence[Skip]) -> int:
    """What was missed is counted as missed, and what clocks skip does not exist."""
    return sum(skip.count for skip in skips if skip.code not in ("missed", "dst_gap"))


def _born(instance: Instance, missed: int, at: datetime, actor: str) -> NewEvent:
    data = {"logical_at": instance.logical_at.isoformat(), "missed": missed}
    return NewEvent(
        at,
        f"instance.{instance.status}",
        instance.job_id,
        instance.id,
        to_status=instance.status,
        actor=actor,
        data=data,
    )


def _skipped(fire: Fire, skip: Skip, at: datetime, actor: str) -> NewEvent:
    data = {
        "logical_at": skip.logical_at.isoformat(),
        "missed": fire.missed,
        "code": skip.code,
        "reason": skip.reason,
        "count": skip.count,
    }
    return NewEvent(at, "schedule.skipped", fire.job_id, actor=actor, data=data)
