"""A hand-moved clock, an engine and a memory store, wired as the service wires them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

from jobs.core.cores import CoreManager
from jobs.core.decisions import Plan, Prepare, Start, Stop, Unprepare
from jobs.core.engine import Engine
from jobs.core.inputs import Began, Ended, Input, InstanceGone, InstanceSeen, JobChanged, Prepared, ScheduleChanged
from jobs.core.memory import MemoryStore
from jobs.core.order import make_order
from jobs.core.policies import DEFAULT_POLICY, FirePolicy
from jobs.core.records import Demand, Instance, Job, Outcome
from jobs.core.states import OutcomeKind
from jobs.core.triggers import Trigger

START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class World:
    cores: int = 4
    overcommit: float = 1.5
    memory_mb: int = 0
    order: str = "priority"
    weights: dict[str, float] = field(default_factory=dict)
    now: datetime = START
    starts: list[Start] = field(default_factory=list)
    stops: list[Stop] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    preparing: list[str] = field(default_factory=list)
    prepared: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        order = make_order(self.order, self.weights)
        self.store = MemoryStore(order)
        self._tokens = count(1)
        self.manager = CoreManager(range(self.cores), overcommit=self.overcommit, memory_mb=self.memory_mb)
        self.engine = Engine(
            self.manager,
            order=order,
            new_token=lambda: f"token-{next(self._tokens)}",
            uniform=lambda low, high: high,
        )

    def job(self, job_id: int = 1, *, cores: int = 1, memory_mb: int = 0, **fields) -> Job:
        job = Job(job_id, demand=Demand(cores, memory_mb), **fields)
        self.store.jobs[job_id] = job
        self.tell(JobChanged(job))
        return job

    def schedule(
        self,
        trigger: Trigger,
        job_id: int = 1,
        schedule_id: int = 1,
        watched_from: datetime | None = None,
        policy: FirePolicy = DEFAULT_POLICY,
    ) -> Plan:
        return self.tell(ScheduleChanged(schedule_id, job_id, trigger, watched_from or self.now, policy))

    def submit(self, job_id: int = 1, *, after: float = 0, logical_at: datetime | None = None) -> int:
        instance = self.store.submit(job_id, self.now, self.now + timedelta(seconds=after), logical_at)
        self.tell(InstanceSeen(instance))
        return instance.id

    def cancel(self, instance_id: int) -> Plan:
        return self.tell(InstanceSeen(self.store.cancel(instance_id)))

    def end(self, instance_id: int, kind: OutcomeKind = OutcomeKind.SUCCESS, seconds: float = 1.0) -> Plan:
        outcome = Outcome(kind, self.now, duration_seconds=seconds)
        return self.tell(Ended(instance_id, self.engine.known.running[instance_id].token, outcome))

    def begin(self, instance_id: int) -> Plan:
        return self.tell(Began(instance_id, self.engine.known.running[instance_id].token, self.now))

    def prepare(self, key: str) -> Plan:
        """The environment is there now, or cannot be."""
        self.preparing.remove(key)
        self.prepared.add(key)
        return self.tell(Prepared(key))

    def wait(self, seconds: float) -> Plan:
        self.now += timedelta(seconds=seconds)
        return self.tell()

    def tell(self, *inputs: Input) -> Plan:
        """One pass: step, commit, and a further one for what followed from the commit."""
        plan = self.engine.step(self.now, inputs)
        for wanted in plan.preparations:
            self._see_to(wanted)
        committed = self.store.commit(plan.decisions, self.now)
        refused = committed.refused_instances
        following = [*self.engine.settle(committed), *self._as_it_is(refused)]
        self.starts += [d for d in plan.decisions if isinstance(d, Start) and d.instance_id not in refused]
        self.stops += [d for d in plan.decisions if isinstance(d, Stop)]
        self.refused += sorted(refused)
        if following:
            self.tell(*following)
        return plan

    def _see_to(self, wanted: Prepare | Unprepare) -> None:
        if isinstance(wanted, Prepare):
            assert wanted.key not in [*self.preparing, *self.prepared]
            self.preparing.append(wanted.key)
        else:
            self.prepared.discard(wanted.key)
            self.preparing = [key for key in self.preparing if key != wanted.key]

    def _as_it_is(self, instance_ids: Iterable[int]) -> list[Input]:
        known = self.store.instances
        jobs = {known[i].job_id for i in instance_ids if i in known}
        seen = [InstanceSeen(known[i]) if i in known else InstanceGone(i) for i in sorted(instance_ids)]
        return [*(JobChanged(self.store.jobs[job_id]) for job_id in sorted(jobs)), *seen]

    def instance(self, instance_id: int) -> Instance:
        return self.store.instances[instance_id]

    def started(self) -> list[int]:
        return [start.instance_id for start in self.starts]
