"""queued -> running and on to the end: the moves that are bound to an attempt's token."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from jobs.core.decisions import Begin, Finish, Start
from jobs.core.states import OutcomeKind, Status
from jobs.store import dismissals, limits
from jobs.store.events import NewEvent
from jobs.store.statement import RowsStatement

_HELD = {"cores": "json", "virtual": "int", "memory_mb": "int"}

START = RowsStatement(
    {
        "id": "int",
        "attempt": "int",
        "token": "text",
        "node_id": "int",
        "at": "moment",
        **_HELD,
        "revision": "int",
    },
    """
    UPDATE jobs_instance SET status = 'running', token = v.token, node_id = v.node_id, attempt_count = v.attempt,
        cores = v.cores, virtual_cores = v.virtual, memory_mb = v.memory_mb,
        started_at = COALESCE(jobs_instance.started_at, v.at), retry_at = NULL, hold_code = '', hold_subject = '{}'
    FROM {rows} WHERE jobs_instance.id = v.id AND jobs_instance.status = 'queued'
        AND jobs_instance.attempt_count = v.attempt - 1
        AND EXISTS (SELECT 1 FROM jobs_job WHERE jobs_job.id = jobs_instance.job_id
                    AND jobs_job.revision = v.revision AND jobs_job.paused_at IS NULL)
        {on_postgres}
    RETURNING jobs_instance.id
    """,
    # Two nodes that want overlapping sets of rows would wait for each other, or deadlock: skip what another claims.
    on_postgres="""
        AND jobs_instance.id IN (SELECT c.id FROM jobs_instance c
                                 WHERE c.id = v.id AND c.status = 'queued' FOR UPDATE SKIP LOCKED)
    """,
)

ATTEMPT = RowsStatement(
    {"instance_id": "int", "number": "int", "token": "text", "node_id": "int", "created_at": "moment", **_HELD},
    """
    INSERT INTO jobs_attempt (instance_id, number, token, node_id, created_at, cores, virtual_cores, memory_mb,
        status, outcome, error, descendants_ended, result)
    SELECT instance_id, number, token, node_id, created_at, cores, virtual, memory_mb, 'starting', '', '', 0, ''
    FROM {rows}
    RETURNING instance_id
    """,
)

BEGIN = RowsStatement(
    {"token": "text", "at": "moment"},
    """
    UPDATE jobs_attempt SET status = 'running', started_at = v.at
    FROM {rows} WHERE jobs_attempt.token = v.token AND jobs_attempt.status = 'starting'
    RETURNING jobs_attempt.token
    """,
)

_ENDING = {"exit_code": "int", "signal": "int", "error": "text", "ended_at": "moment"}

FINISH_ATTEMPT = RowsStatement(
    {
        "token": "text",
        "outcome": "text",
        "started_at": "moment",
        "duration": "real",
        "cpu": "real",
        "peak": "int",
        "descendants": "int",
        "result": "text",
        "abandoned_at": "moment",
        **_ENDING,
    },
    """
    UPDATE jobs_attempt SET status = 'ended', outcome = v.outcome, ended_at = v.ended_at,
        started_at = COALESCE(v.started_at, jobs_attempt.started_at), exit_code = v.exit_code, signal = v.signal,
        error = v.error, duration_seconds = v.duration, cpu_seconds = v.cpu, peak_memory_bytes = v.peak,
        descendants_ended = v.descendants, result = v.result, abandoned_at = v.abandoned_at
    FROM {rows} WHERE jobs_attempt.token = v.token AND jobs_attempt.status <> 'ended'
    RETURNING jobs_attempt.token
    """,
)

# A wish to cancel that was committed after the engine looked must not be lost in a retry's wait.
FINISH_INSTANCE = RowsStatement(
    {"id": "int", "token": "text", "status": "text", "retry_at": "moment", "lost": "int", "live": "int", **_ENDING},
    """
    UPDATE jobs_instance SET token = '', exit_code = v.exit_code, signal = v.signal, error = v.error,
        lost_count = jobs_instance.lost_count + v.lost,
        status = CASE WHEN v.live = 1 AND jobs_instance.cancel_requested_at IS NOT NULL THEN 'cancelled'
                      ELSE v.status END,
        ended_at = CASE WHEN v.live = 1 AND jobs_instance.cancel_requested_at IS NULL THEN NULL ELSE v.ended_at END,
        retry_at = CASE WHEN jobs_instance.cancel_requested_at IS NULL THEN v.retry_at END,
        hold_code = CASE WHEN v.status = 'queued' THEN 'turn' ELSE '' END
    FROM {rows} WHERE jobs_instance.id = v.id AND jobs_instance.status = 'running' AND jobs_instance.token = v.token
    RETURNING jobs_instance.id, jobs_instance.status
    """,
)


# The job's revision stays: what was learnt from an end is no edit.
USUAL = RowsStatement(
    {"job_id": "int", "seconds": "real"},
    """
    UPDATE jobs_job SET usual_seconds = v.seconds FROM {rows} WHERE jobs_job.id = v.job_id RETURNING jobs_job.id
    """,
)


def start(decisions: Sequence[Start], at: datetime, node_id: int, actor: str) -> tuple[set[int], list[NewEvent]]:
    """Returns the ids that could not be claimed, and the events of those that were."""
    too_many = limits.claim(decisions, at)
    allowed = [d for d in decisions if d.instance_id not in too_many]
    moved = {row[0] for row in START.run((*_attempt(d, node_id, at), d.job_revision) for d in allowed)}
    won = [d for d in decisions if d.instance_id in moved]
    ATTEMPT.run(_attempt(d, node_id, at) for d in won)
    events = [
        NewEvent(
            at,
            "instance.started",
            d.job_id,
            d.instance_id,
            d.attempt,
            "queued",
            "running",
            actor,
            {"cores": list(d.allocation.cores), "virtual_cores": d.allocation.virtual},
        )
        for d in won
    ]
    return {d.instance_id for d in decisions} - moved, events


def _attempt(start: Start, node_id: int, at: datetime) -> tuple[object, ...]:
    """The values of an attempt's row, in the order of ATTEMPT's columns, which START's begin with."""
    held = start.allocation
    return start.instance_id, start.attempt, start.token, node_id, at, list(held.cores), held.virtual, held.memory_mb


def begin(decisions: Sequence[Begin], at: datetime, actor: str) -> list[NewEvent]:
    """An attempt that has ended by now has begun too: zero rows are no refusal."""
    moved = {row[0] for row in BEGIN.run((d.token, d.at) for d in decisions)}
    return [
        NewEvent(at, "attempt.began", d.job_id, d.instance_id, d.attempt, "running", "running", actor)
        for d in decisions
        if d.token in moved
    ]


def finish(decisions: Sequence[Finish], at: datetime, actor: str) -> tuple[set[int], list[NewEvent]]:
    """Returns the ids whose attempt had been settled already, and the events of the others."""
    FINISH_ATTEMPT.run(
        (
            d.token,
            d.outcome.kind.value,
            d.outcome.started_at,
            d.outcome.duration_seconds,
            d.outcome.cpu_seconds,
            d.outcome.peak_memory_bytes,
            d.outcome.descendants_ended,
            d.outcome.result,
            d.outcome.ended_at if d.abandoned else None,
            d.outcome.exit_code,
            d.outcome.signal,
            d.outcome.error,
            d.outcome.ended_at,
        )
        for d in decisions
    )
    moved: dict[int, str] = dict(
        FINISH_INSTANCE.run(
            (
                d.instance_id,
                d.token,
                d.status.value,
                d.retry_at,
                int(d.outcome.kind is OutcomeKind.LOST),
                int(d.status in (Status.RETRYING, Status.QUEUED)),
                d.outcome.exit_code,
                d.outcome.signal,
                d.outcome.error,
                d.outcome.ended_at,
            )
            for d in decisions
        )
    )
    USUAL.run({d.job_id: d.usual_seconds for d in decisions if d.usual_seconds is not None}.items())
    dismissals.count_failures(decisions)
    events = [_ended(d, moved[d.instance_id], at, actor) for d in decisions if d.instance_id in moved]
    return {d.instance_id for d in decisions} - moved.keys(), events


def _ended(decision: Finish, status: str, at: datetime, actor: str) -> NewEvent:
    kind = {"retrying": "instance.retrying", "queued": "instance.requeued"}.get(status, "instance.ended")
    data = {
        "outcome": decision.outcome.kind.value,
        "exit_code": decision.outcome.exit_code,
        "signal": decision.outcome.signal,
        "error": decision.outcome.error,
    }
    return NewEvent(at, kind, decision.job_id, decision.instance_id, decision.attempt, "running", status, actor, data)
