"""Telling the engine what others changed: rows of the store, read again where the feed names them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from jobs import models
from jobs.core.engine import Engine
from jobs.core.inputs import (
    AbandonedElsewhere,
    Input,
    InstanceGone,
    InstanceSeen,
    JobChanged,
    JobGone,
    ScheduleGone,
)
from jobs.core.states import Status
from jobs.holding import threads_of
from jobs.service.every import Every
from jobs.store import changes, horizon, limits, read

# Waiting for others, of jobs that were edited: more are found when their upstreams end.
MOST_PENDING = 5_000

OTHER_NODES_SECONDS = 10.0  # one that was killed tells nobody


class Follower:
    """The engine's place in the feed, and the part of the database that it holds in memory."""

    def __init__(self, actor: str, node_id: int) -> None:
        self._actor = actor
        self._node_id = node_id
        self._version = changes.DataVersion()
        self._position = 0
        self.behind = False
        self._node_changed = False
        self._other_nodes = Every(OTHER_NODES_SECONDS)
        self._abandoned_elsewhere: frozenset[int] = frozenset()
        self._backfill_made = False
        self._refused_instances: set[int] = set()
        self._refused_schedules: set[int] = set()
        self.horizon = horizon.Horizon(until=datetime.min)  # noqa: DTZ901 - replaced by the first load

    def begin(self, now: datetime) -> list[Input]:
        """Everything up to the horizon. The feed's place is noted first: what comes in between is seen twice."""
        self._version.changed()
        self._position = changes.newest()
        self._other_nodes.is_due()
        return [*self._threads_elsewhere(now), *self.load(now)]

    def load(self, now: datetime) -> list[Input]:
        """Everything up to a new horizon. The feed's place stays: a wish that lies before it would never be seen."""
        self.horizon, inputs = horizon.load(now)
        return inputs

    def beyond_horizon(self, engine: Engine, now: datetime) -> list[Input]:
        """What has come into its reach: the next minutes, and more of the queue where the engine has little of it."""
        told: list[Input] = []
        if self.horizon.reload_at is not None and now >= self.horizon.reload_at:
            self.horizon, told = horizon.load(now, self.horizon.queue)
            told = [
                one for one in told if not (isinstance(one, InstanceSeen) and one.instance.id in engine.known.instances)
            ]
        return told + self._more_of_queue(engine, now)

    def _more_of_queue(self, engine: Engine, now: datetime) -> list[Input]:
        rows = self.horizon.queue.more(engine, now)
        unknown = {row.job_id for row in rows if engine.known.find_job(row.job_id) is None}
        jobs: list[Input] = [JobChanged(job) for job in read.jobs(unknown, read.workflows())] if unknown else []
        return [*jobs, *(InstanceSeen(read.instance(row)) for row in rows)]

    def look_again(self, instances: Iterable[int], schedules: Iterable[int]) -> None:
        """Somebody else was first with these: read them at the next look."""
        self._refused_instances.update(instances)
        self._refused_schedules.update(schedules)

    def look(self, now: datetime, *, poked: bool) -> list[Input]:
        """What others committed since the last look; nothing is read where the database says that nothing was.

        A portion of it: `behind` tells that there is more.
        """
        changed, is_due = self._version.changed(), self._other_nodes.is_due()
        if not (changed or poked or self.behind or self._refused_instances or self._refused_schedules):
            return self._threads_elsewhere(now) if is_due else []
        found = changes.since(self._position, but_of=self._actor)
        self._position, self.behind = found.position, found.more
        self._node_changed = self._node_changed or found.node
        self._backfill_made = self._backfill_made or found.backfills
        told: list[Input] = [limits.load()] if found.limits else []
        told += self._read(found.jobs, found.instances) + self._read_refused()
        if told or found.node or is_due:
            # Read after the ends that it is told before: whose end is written has told of its thread.
            told = [*self._threads_elsewhere(now), *told]
        return told

    def _threads_elsewhere(self, now: datetime) -> list[Input]:
        """Whose threads go on, abandoned, on other nodes, where that has changed since told; their jobs first."""
        nodes = models.Node.objects.exclude(pk=self._node_id).defer("equipment")
        tokens = threads_of(nodes, now)
        rows = list(models.Instance.objects.filter(attempts__token__in=tokens).order_by("pk")) if tokens else []
        ids = frozenset(row.pk for row in rows)
        if ids == self._abandoned_elsewhere:
            return []
        self._abandoned_elsewhere = ids
        jobs = read.jobs({row.job_id for row in rows}, read.workflows())
        return [*map(JobChanged, jobs), AbandonedElsewhere(tuple(map(read.instance, rows)))]

    def take_node_changed(self) -> bool:
        """Whether, since the last time it was asked, somebody else changed a node: perhaps this one."""
        changed, self._node_changed = self._node_changed, False
        return changed

    def take_backfill_made(self) -> bool:
        """Whether, since the last time it was asked, somebody asked for a backfill."""
        made, self._backfill_made = self._backfill_made, False
        return made

    def _read_refused(self) -> list[Input]:
        instances, schedules = self._refused_instances, self._refused_schedules
        self._refused_instances, self._refused_schedules = set(), set()
        if not instances and not schedules:
            return []
        jobs = models.Schedule.objects.filter(pk__in=schedules).values_list("job_id", flat=True)
        # No event tells what others took of a rate, and one that was refused for it would be tried at every look.
        rules = limits.load() if instances else None
        told: list[Input] = [rules] if rules is not None and rules.rates else []
        return told + self._read(frozenset(jobs), frozenset(instances))

    def _read(self, job_ids: frozenset[int], instance_ids: frozenset[int]) -> list[Input]:
        rows = {row.pk: row for row in models.Instance.objects.filter(pk__in=instance_ids)}
        rows |= {row.pk: row for row in self.horizon.queue.of_jobs(job_ids)} | self._pending_of(job_ids)
        graph = read.workflows()
        seen = read.with_upstreams((row for row in rows.values() if self.horizon.takes(row, graph)), graph)
        jobs = read.jobs(job_ids | {row.job_id for row in seen}, graph)
        told: list[Input] = [JobChanged(job) for job in jobs]
        told += [JobGone(job_id) for job_id in sorted(job_ids - {job.id for job in jobs})]
        told += [InstanceGone(instance_id) for instance_id in sorted(instance_ids - rows.keys())]
        told += [InstanceSeen(read.instance(row)) for row in seen]
        # Last: a schedule that counts from ends asks what is under way.
        return told + self._schedules(job_ids)

    def _pending_of(self, job_ids: frozenset[int]) -> dict[int, models.Instance]:
        """What waits of these jobs for others: an edit may have given it an upstream that ended before."""
        if not job_ids:
            return {}
        waits = models.Instance.objects.filter(status=Status.PENDING, job__upstream_edges__isnull=False)
        return {row.pk: row for row in waits.filter(job_id__in=job_ids).order_by("pk")[:MOST_PENDING]}

    def _schedules(self, job_ids: frozenset[int]) -> list[Input]:
        told: list[Input] = [ScheduleGone(job_id) for job_id in sorted(job_ids)]
        return told + [horizon.schedule(row) for row in horizon.active_schedules().filter(job_id__in=job_ids)]
