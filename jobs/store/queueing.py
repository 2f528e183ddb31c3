"""pending or retrying -> queued, and why a queued instance waits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from jobs.core.decisions import Dismiss, Queue, Start, Wait
from jobs.store.events import NewEvent
from jobs.store.statement import RowsStatement

QUEUE = RowsStatement(
    {"id": "int", "from_status": "text", "queued_at": "moment", "order_key": "int"},
    """
    UPDATE jobs_instance SET status = 'queued', hold_code = 'turn',
        queued_at = COALESCE(jobs_instance.queued_at, v.queued_at),
        order_key = COALESCE(jobs_instance.order_key, v.order_key)
    FROM {rows} WHERE jobs_instance.id = v.id AND jobs_instance.status = v.from_status
    RETURNING jobs_instance.id
    """,
)

WAIT = RowsStatement(
    {"id": "int", "code": "text", "subject": "json"},
    """
    UPDATE jobs_instance SET hold_code = v.code, hold_subject = v.subject
    FROM {rows} WHERE jobs_instance.id = v.id AND jobs_instance.status = 'queued'
        AND (jobs_instance.hold_code <> v.code OR jobs_instance.hold_subject <> v.subject)
    RETURNING jobs_instance.id
    """,
)


FAIL = RowsStatement(
    {"id": "int", "error": "text", "ended_at": "moment"},
    """
    UPDATE jobs_instance SET status = 'failed', error = v.error, ended_at = v.ended_at, hold_code = ''
    FROM {rows} WHERE jobs_instance.id = v.id AND jobs_instance.status IN ('pending', 'queued', 'retrying')
    RETURNING jobs_instance.id
    """,
)


def fail(decisions: Sequence[Queue | Start | Dismiss], error: str, at: datetime, actor: str) -> list[NewEvent]:
    """What waits, and can never run, ends as failed."""
    moved = {row[0] for row in FAIL.run((d.instance_id, error, at) for d in decisions)}
    return [
        NewEvent(at, "instance.ended", d.job_id, d.instance_id, to_status="failed", actor=actor, data={"error": error})
        for d in decisions
        if d.instance_id in moved
    ]


def queue(decisions: Sequence[Queue], at: datetime, actor: str) -> tuple[set[int], list[NewEvent]]:
    """Returns the ids that did not move, and the events of those that did."""
    rows = [(d.instance_id, d.from_status.value, d.queued_at, d.order_key) for d in decisions]
    moved = {row[0] for row in QUEUE.run(rows)}
    events = [
        NewEvent(at, "instance.queued", d.job_id, d.instance_id, None, d.from_status.value, "queued", actor)
        for d in decisions
        if d.instance_id in moved
    ]
    return {d.instance_id for d in decisions} - moved, events


def wait(decisions: Sequence[Wait], at: datetime, actor: str) -> list[NewEvent]:
    """A reason for something that waits no more changes nothing, and is no refusal: the move itself tells."""
    moved = {row[0] for row in WAIT.run([(d.instance_id, d.hold.code, d.hold.subject) for d in decisions])}
    return [
        NewEvent(
            at,
            "instance.held",
            d.job_id,
            d.instance_id,
            None,
            "queued",
            "queued",
            actor,
            {"code": d.hold.code, "subject": d.hold.subject},
        )
        for d in decisions
        if d.instance_id in moved
    ]
