"""What waits for what on one logical date: dependents, how their upstreams of that date stand, and what follows.

A dependent goes by the latest generation of each upstream on its own date, never by "the latest run".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto

from jobs.core.graph import Graph
from jobs.core.policies import UpstreamRule
from jobs.core.records import Blame, Instance, Job
from jobs.core.states import TERMINAL, Status

FAILED = frozenset({Status.FAILED, Status.TIMEOUT, Status.UPSTREAM_FAILED})


class Verdict(Enum):
    """Whether an instance may run, as far as its upstreams go."""

    WAIT = auto()
    RUN = auto()
    UPSTREAM_FAILED = auto()
    NOT_NEEDED = auto()


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: Verdict
    blame: Blame | None = None


@dataclass(frozen=True, slots=True)
class _Standing:
    """The latest generation of one job on one date. `blame`: whom to name if it did not succeed."""

    instance_id: int
    generation: int
    status: Status
    blame: Blame


WAIT, RUN, NOT_NEEDED = (Judgement(verdict) for verdict in (Verdict.WAIT, Verdict.RUN, Verdict.NOT_NEEDED))


class Dates:
    """The dependents that wait, and the standing of the workflow's jobs on their dates.

    A date is forgotten with the last one that waits on it, so memory follows what is live, not what was.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        # date -> job id -> ids of its instances that wait
        self._waiting: defaultdict[datetime, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        self._standing: defaultdict[datetime, dict[int, _Standing]] = defaultdict(dict)

    def wait(self, instance: Instance) -> None:
        """It waits for its upstreams. Put it here before they are noted."""
        self._waiting[instance.logical_at][instance.job_id].add(instance.id)

    def note(self, instance: Instance, job: Job) -> list[int]:
        """How an instance of a workflow stands now; returns those that wait for it, to be judged again."""
        date, known = instance.logical_at, self._standing[instance.logical_at].get(instance.job_id)
        if known is not None and known.generation > instance.generation:
            return []
        blame = instance.blame or Blame(instance.id, job.name, instance.status)
        self._standing[date][instance.job_id] = _Standing(instance.id, instance.generation, instance.status, blame)
        waiting = self._waiting[date]
        found = sorted(id_ for job_id in self._graph.dependents(instance.job_id) for id_ in waiting.get(job_id, ()))
        self._tidy(date)
        return found

    def waiting_of(self, job_id: int) -> list[int]:
        """Its instances that wait for upstreams, to be judged again after an edit."""
        return sorted(i for waiting in self._waiting.values() for i in waiting.get(job_id, ()))

    def forget(self, instance: Instance) -> None:
        """It waits no more."""
        if instance.logical_at not in self._waiting:
            return  # as nearly always: it is part of no workflow
        waiting = self._waiting[instance.logical_at]
        waiting[instance.job_id].discard(instance.id)
        if not waiting[instance.job_id]:
            del waiting[instance.job_id]
        self._tidy(instance.logical_at)

    def drop_job(self, job_id: int) -> None:
        """How its instances stand need not be remembered, on no date."""
        for standing in self._standing.values():
            standing.pop(job_id, None)

    def judge(self, instance: Instance, rule: UpstreamRule) -> Judgement:
        """What the upstreams of its date make of it. One that has no instance of that date is waited for."""
        standing = self._standing.get(instance.logical_at, {})
        return _RULES[rule]([standing.get(upstream) for upstream in self._graph.upstreams(instance.job_id)])

    def _tidy(self, date: datetime) -> None:
        if not self._waiting.get(date):
            self._waiting.pop(date, None)
            self._standing.pop(date, None)


Standings = list["_Standing | None"]


def _all_success(upstreams: Standings) -> Judgement:
    for one in upstreams:
        if one is not None and one.status in TERMINAL and one.status is not Status.SUCCESS:
            return Judgement(Verdict.UPSTREAM_FAILED, one.blame)
    return RUN if _all_done(upstreams) is RUN else WAIT


def _all_done(upstreams: Standings) -> Judgement:
    return RUN if all(one is not None and one.status in TERMINAL for one in upstreams) else WAIT


def _any_failed(upstreams: Standings) -> Judgement:
    if any(one is not None and one.status in FAILED for one in upstreams):
        return RUN
    return NOT_NEEDED if _all_done(upstreams) is RUN else WAIT


_RULES: dict[UpstreamRule, Callable[[Standings], Judgement]] = {
    UpstreamRule.ALL_SUCCESS: _all_success,
    UpstreamRule.ALL_DONE: _all_done,
    UpstreamRule.ANY_FAILED: _any_failed,
}
