"""Rows to act on, and moments to act at."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connections

from jobs.actions import create_job
from jobs.actions.answers import ActionError
from jobs.core.states import Status
from jobs.models import Event, Instance, Job, Node
from tests.waiting import DEADLINE_SECONDS

NOW = datetime(2026, 5, 4, 12, 0, 30, tzinfo=UTC)
HOURLY = {"schedule_type": "cron", "schedule_expression": "0 * * * *"}


def later(**kwargs: float) -> datetime:
    return NOW + timedelta(**kwargs)


def make_job(name: str = "nightly", *, start: bool = False, now: datetime = NOW, **fields: Any) -> Job:
    raw = {"name": name, "command": "true"} | fields
    return Job.objects.get(pk=create_job(raw, actor="ada", now=now, start=start).job_id)


def make_instance(job: Job, status: str = "queued", **fields: Any) -> Instance:
    """A row as the engine would leave it, without going through its moves."""
    values: dict[str, Any] = {
        "logical_at": NOW, "due_at": NOW, "created_at": NOW, "cause": "manual", "queued_at": NOW, "order_key": 1,
        "generation": Instance.objects.filter(job=job).count(),
    }  # fmt: skip
    if status == Status.RUNNING:
        node = Node.objects.get_or_create(name="alpha", cores=[0, 1, 2, 3], memory_mb=8000)[0]
        values |= {"token": f"t{Instance.objects.count()}", "node": node, "started_at": NOW, "cores": [0]}
    elif status == Status.RETRYING:
        values["retry_at"] = later(hours=1)
    elif status not in (Status.PENDING, Status.QUEUED):
        values["ended_at"] = NOW
    return Instance.objects.create(job=job, status=status, **values | fields)


def events() -> list[str]:
    return list(Event.objects.order_by("pk").values_list("kind", flat=True))


def at_once(*actions: Callable[[], object]) -> list[object]:
    """What each returned or why it refused, all begun together, each on a thread and a connection of its own."""
    barrier = threading.Barrier(len(actions))
    answers: list[object] = [None] * len(actions)

    def act(place: int) -> None:
        barrier.wait()
        try:
            answers[place] = actions[place]()
        except ActionError as refusal:
            answers[place] = refusal
        finally:
            connections.close_all()

    threads = [threading.Thread(target=act, args=(place,)) for place in range(len(actions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
    return answers
