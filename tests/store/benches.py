"""One face for the memory store and the ORM store, so that one contract can be put to both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from jobs import models
from jobs.core.decisions import Decision
from jobs.core.memory import MemoryStore
from jobs.core.port import Committed
from jobs.core.records import Instance, Job
from jobs.store import read, wishes
from jobs.store.orm import OrmStore

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


class Bench(Protocol):
    def job(self) -> int: ...
    def edit(self, job_id: int) -> None: ...
    def pause(self, job_id: int) -> None: ...
    def schedule(self, job_id: int) -> int: ...
    def submit(self, job_id: int, due_at: datetime = NOW) -> int: ...
    def cancel(self, instance_id: int) -> None: ...
    def commit(self, *decisions: Decision, node: int = 0) -> Committed: ...
    def set_aside(self, decision: Decision) -> None: ...
    def instance(self, instance_id: int) -> Instance: ...
    def instances_of(self, job_id: int) -> list[int]: ...
    def attempts_in_flight(self, instance_id: int) -> int: ...
    def outcomes(self, instance_id: int) -> list[str]: ...
    def hold(self, instance_id: int) -> str: ...
    def events(self, instance_id: int | None = None) -> list[str]: ...


@dataclass
class MemoryBench:
    store: MemoryStore = field(default_factory=MemoryStore)

    def job(self) -> int:
        job_id = len(self.store.jobs) + 1
        self.store.jobs[job_id] = Job(job_id)
        return job_id

    def edit(self, job_id: int) -> None:
        self.store.jobs[job_id] = Job(job_id, revision=self.store.jobs[job_id].revision + 1)

    def pause(self, job_id: int) -> None:
        self.store.jobs[job_id] = Job(job_id, paused=True)

    def schedule(self, job_id: int) -> int:
        return job_id + 100

    def submit(self, job_id: int, due_at: datetime = NOW) -> int:
        return self.store.submit(job_id, NOW, due_at).id

    def cancel(self, instance_id: int) -> None:
        self.store.cancel(instance_id)

    def commit(self, *decisions: Decision, node: int = 0) -> Committed:
        return self.store.commit(decisions, NOW)

    def set_aside(self, decision: Decision) -> None:
        self.store.set_aside(decision, "refused", NOW)

    def instance(self, instance_id: int) -> Instance:
        return self.store.instances[instance_id]

    def instances_of(self, job_id: int) -> list[int]:
        return sorted(i.id for i in self.store.instances.values() if i.job_id == job_id)

    def attempts_in_flight(self, instance_id: int) -> int:
        return sum(a.instance_id == instance_id and a.status != "ended" for a in self.store.attempts.values())

    def outcomes(self, instance_id: int) -> list[str]:
        mine = [a for a in self.store.attempts.values() if a.instance_id == instance_id]
        return [a.outcome.kind.value for a in sorted(mine, key=lambda a: a.number) if a.outcome]

    def hold(self, instance_id: int) -> str:
        hold = self.store.holds.get(instance_id)
        return hold.code if hold else "turn"

    def events(self, instance_id: int | None = None) -> list[str]:
        return [e.kind for e in self.store.events if e.instance_id == instance_id]


class OrmBench:
    """On the thread's default connection, whichever database that is."""

    def __init__(self) -> None:
        nodes = [models.Node.objects.create(name=f"node-{n}") for n in (1, 2)]
        self.stores: Sequence[OrmStore] = [OrmStore(node.pk, node.name) for node in nodes]

    def job(self) -> int:
        return models.Job.objects.create(name=f"job {models.Job.objects.count()}", body="true", created_at=NOW).pk

    def edit(self, job_id: int) -> None:
        models.Job.objects.filter(pk=job_id).update(revision=2)

    def pause(self, job_id: int) -> None:
        models.Job.objects.filter(pk=job_id).update(paused_at=NOW)

    def schedule(self, job_id: int) -> int:
        return models.Schedule.objects.create(
            job_id=job_id, type="interval", expression="1m", anchor_at=NOW, watched_from=NOW
        ).pk

    def submit(self, job_id: int, due_at: datetime = NOW) -> int:
        job = models.Job.objects.get(pk=job_id)
        cause = models.Instance.Cause.MANUAL
        return wishes.submit(job, cause=cause, actor="ann", now=NOW, due_at=due_at).pk

    def cancel(self, instance_id: int) -> None:
        wishes.cancel(instance_id, actor="ann", now=NOW)

    def commit(self, *decisions: Decision, node: int = 0) -> Committed:
        return self.stores[node].commit(decisions, NOW)

    def set_aside(self, decision: Decision) -> None:
        self.stores[0].set_aside(decision, "refused", NOW)

    def instance(self, instance_id: int) -> Instance:
        return read.instance(models.Instance.objects.get(pk=instance_id))

    def instances_of(self, job_id: int) -> list[int]:
        return list(models.Instance.objects.filter(job_id=job_id).order_by("pk").values_list("pk", flat=True))

    def attempts_in_flight(self, instance_id: int) -> int:
        return models.Attempt.objects.filter(instance_id=instance_id).exclude(status="ended").count()

    def outcomes(self, instance_id: int) -> list[str]:
        ended = models.Attempt.objects.filter(instance_id=instance_id, status="ended").order_by("number")
        return list(ended.values_list("outcome", flat=True))

    def hold(self, instance_id: int) -> str:
        return models.Instance.objects.get(pk=instance_id).hold_code

    def events(self, instance_id: int | None = None) -> list[str]:
        return list(models.Event.objects.filter(instance_id=instance_id).order_by("pk").values_list("kind", flat=True))
