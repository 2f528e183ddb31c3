"""Nodes, jobs and instances in each state, as the engine would have left them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from jobs.models import Attempt, Instance, Job, Node
from jobs.store.events import NewEvent, record

NAUGHTY = "<img src=x onerror=document.title=1>'\"&{{7*7}}"
THEN = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)


def hourly(now: datetime) -> dict[str, str]:
    """The timing of a job that runs each hour, but not within ten minutes: no test may lie across a fire.

    Nor does it run at a full hour, or shortly before: there are jobs that are daily at one.
    """
    minute = 10 if 25 <= now.minute < 55 else 35
    return {"schedule_type": "cron", "schedule_expression": f"{minute} * * * *"}


def make_node(name: str = "atlas", cores: int = 4, **fields: Any) -> Node:
    now = timezone.now()
    given = {"heartbeat_at": now, "started_at": now, "memory_mb": 4096, "overcommit": 1.5}
    return Node.objects.create(name=name, cores=list(range(cores)), **(given | fields))


def make_job(name: str = "report", **fields: Any) -> Job:
    return Job.objects.create(name=name, body=fields.pop("body", "print(1)"), **fields)


def make_waiting(job: Job, status: str = "queued", **fields: Any) -> Instance:
    now = fields.pop("now", timezone.now())
    place = {"queued_at": now, "order_key": Instance.objects.count(), "hold_code": "turn"} if status == "queued" else {}
    retry = {"retry_at": now + timedelta(minutes=1)} if status == "retrying" else {}
    common = {"logical_at": now, "generation": Instance.objects.count(), "due_at": now, "created_at": now}
    given = common | {"cause": "submit", "created_by": "ann", "status": status} | place | retry
    return Instance.objects.create(job=job, **(given | fields))


def make_running(job: Job, node: Node, cores: tuple[int, ...] = (0,), virtual: int = 0, **fields: Any) -> Instance:
    """Running, or with `status` and the rest of an end in `fields` what became of it."""
    now = fields.pop("now", timezone.now())
    number = Instance.objects.count()
    instance = make_waiting(job, "queued", now=now)
    given = {"status": "running", "node": node, "cores": list(cores), "virtual_cores": virtual, "attempt_count": 1}
    given |= {"token": f"token{number:08}", "started_at": now, "hold_code": ""} | fields
    Instance.objects.filter(pk=instance.pk).update(**given)
    Attempt.objects.create(
        instance=instance,
        number=1,
        token=f"token{number:08}",
        status="running",
        node=node,
        cores=list(cores),
        virtual_cores=virtual,
        memory_mb=job.memory_mb,
        created_at=now,
        started_at=now,
    )
    instance.refresh_from_db()
    return instance


def end(instance: Instance, status: str = "success", **fields: Any) -> Instance:
    """What becomes of a running one; `fields` are those of its attempt and, where it has them too, of itself."""
    now = fields.pop("now", timezone.now())
    both = {name: value for name, value in fields.items() if name in ("exit_code", "signal", "error")}
    Instance.objects.filter(pk=instance.pk).update(status=status, token="", ended_at=now, **both)
    ended = {"status": "ended", "outcome": status, "ended_at": now, "duration_seconds": 1.5} | fields
    instance.attempts.update(**ended)
    tell("instance.ended", instance, "running", status, at=now)
    instance.refresh_from_db()
    return instance


def abandon(instance: Instance, **fields: Any) -> Instance:
    """What becomes of a running one that was cancelled, but whose thread goes on."""
    now = fields.pop("now", timezone.now())
    end(instance, "cancelled", now=now, abandoned_at=now, **fields)
    attempt = instance.attempts.select_related("node").get()
    Node.objects.filter(pk=attempt.node_id).update(abandoned=[*attempt.node.abandoned, attempt.token])
    tell("node.changed", data={"node": attempt.node_id, "abandoned": [instance.pk]}, at=now)
    return instance


def come_back(instance: Instance) -> None:
    """What becomes of the node when the thread that was abandoned returns."""
    attempt = instance.attempts.select_related("node").get()
    others = [token for token in attempt.node.abandoned if token != attempt.token]
    Node.objects.filter(pk=attempt.node_id).update(abandoned=others)
    tell("node.changed", data={"node": attempt.node_id, "abandoned": []})


def tell(kind: str, instance: Instance | None = None, before: str = "", after: str = "", **fields: Any) -> None:
    """The event, as a move would record it."""
    at = fields.pop("at", timezone.now())
    job_id, instance_id = (instance.job_id, instance.pk) if instance else (None, None)
    with transaction.atomic():
        record([NewEvent(at, kind, job_id, instance_id, None, before, after, **fields)])
