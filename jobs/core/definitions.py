"""Definitions of jobs come, change and go: what follows for what is queued, held or watched of them."""

from __future__ import annotations

from collections.abc import Callable

from jobs.core.decisions import Wait
from jobs.core.firing import Schedules
from jobs.core.graph import Graph
from jobs.core.known import KnownInstances
from jobs.core.limits import Limits
from jobs.core.records import Hold, Job
from jobs.core.starting import Starts
from jobs.core.waiting import Waiting


class Definitions:
    """The jobs of one engine."""

    def __init__(
        self,
        known: KnownInstances,
        graph: Graph,
        limits: Limits,
        waiting: Waiting,
        starts: Starts,
        schedules: Schedules,
    ) -> None:
        self._known = known
        self._graph = graph
        self._limits = limits
        self._waiting = waiting
        self._starts = starts
        self._schedules = schedules

    def put(self, job: Job) -> None:
        """As it is from now on, for what comes."""
        self._known.put_job(job)
        self._graph.put(job.id, job.upstreams)
        self._limits.set_job(job.id, job.max_running)
        self._waiting.needs_changed(job.id)

    def change(self, job: Job) -> list[Wait]:
        """It was made, edited, paused or resumed."""
        before = self._known.find_job(job.id)
        self.put(job)
        if before is None:
            return []
        self._waiting.edges_changed(job.id)
        if job.start_deadline_seconds != before.start_deadline_seconds:
            self._waiting.deadline_changed(job.id)
        if job.limits != before.limits:
            # The store counts by the limits as they are: a start that only we think possible is refused at every look.
            for instance in self._known.running_of(job.id):
                self._limits.hold(instance.id, job.limits)
        queued = self._known.queued_of(job.id)
        self._waiting.put_again(queued)
        if not job.paused or before.paused:
            return []
        return [wait for instance in queued for wait in self._starts.hold(instance.id, Hold("paused"))]

    def forget_idle(self) -> None:
        """Drop those that are here for no instance, schedule or dependency: each one-off job that ever ran."""
        for job_id in self._known.idle_jobs():
            if job_id not in self._graph and not self._schedules.watches(job_id):
                self._drop(job_id)

    def drop(self, job_id: int, forget: Callable[[int], None]) -> None:
        """It was deleted; `forget` what waits of it."""
        for instance in self._known.waiting_of(job_id):
            forget(instance.id)
        self._drop(job_id)

    def _drop(self, job_id: int) -> None:
        self._schedules.remove_job(job_id)
        self._graph.drop(job_id)
        self._waiting.job_gone(job_id)
        self._limits.set_job(job_id, None)
        self._known.drop_job(job_id)
