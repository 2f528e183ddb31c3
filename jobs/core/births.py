"""The instances that one date of a schedule makes: one for its job, and one for every job below it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.core.decisions import Birth
from jobs.core.graph import Graph
from jobs.core.known import KnownInstances
from jobs.core.moments import not_before_moment
from jobs.core.places import Places
from jobs.core.records import Job
from jobs.core.states import Status
from jobs.core.values import made_often
from jobs.core.watched import Watched
from jobs.core.weektimes import parse_clock
from jobs.core.zones import zone_named

# What was missed gets its place in the order as if it came so much later: thirty days of backlog are not to make late
# what is due now, and after that time it is its turn whatever comes.
YIELDS = timedelta(hours=1)


@made_often
@dataclass(frozen=True, slots=True)
class Turn:
    """When it is the turn of an instance. `since`: since when it waits: now, or as long as one that it replaces.

    `yields`: it is part of a backlog, or comes after one of its own job. `bound`: as a Birth has it.
    """

    since: datetime
    yields: bool
    bound: int | None


class Births:
    def __init__(self, known: KnownInstances, graph: Graph, places: Places) -> None:
        self._known = known
        self._graph = graph
        self._places = places

    def workflow(self, job_id: int) -> Iterable[int]:
        """The job and all that are bound to it."""
        return self._graph.component(job_id) if job_id in self._graph else (job_id,)

    def of(self, watched: Watched, job: Job, date: datetime, now: datetime, turn: Turn) -> list[Birth]:
        """Upstreams before what waits for them. Only the job of the schedule itself is queued at once."""
        due, serial = watched.due_at(date), watched.policy.serial
        if due > now:
            own = Birth(job.id, date, due, Status.PENDING, None, None, serial, turn.bound)
        else:
            place = self._places.of_birth(job, turn.since + YIELDS if turn.yields else turn.since, due)
            own = Birth(job.id, date, due, Status.QUEUED, turn.since, place, serial, turn.bound)
        if job.id not in self._graph:
            return [own]
        return [own, *(self._below(job_id, date, due, watched) for job_id in self._graph.below(job.id))]

    def _below(self, job_id: int, date: datetime, due: datetime, watched: Watched) -> Birth:
        moment = _not_before(date, self._known.job(job_id), watched.zone)
        return Birth(job_id, date, max(due, moment), Status.PENDING, serial=watched.policy.serial)


def _not_before(date: datetime, job: Job, zone: str) -> datetime:
    return not_before_moment(date, parse_clock(job.not_before), zone_named(zone)) if job.not_before else date
