"""The instances that one date of a schedule makes: one for its job, and one for every job below it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from jobs.core.decisions import Birth
from jobs.core.graph import Graph
from jobs.core.jitter import jittered
from jobs.core.known import KnownInstances
from jobs.core.moments import not_before_moment
from jobs.core.places import Places
from jobs.core.policies import FirePolicy
from jobs.core.records import Job
from jobs.core.states import Status
from jobs.core.weektimes import parse_clock
from jobs.core.zones import zone_named

# What was missed gets its place in the order as if it came so much later: thirty days of backlog are not to make late
# what is due now, and after that time it is its turn whatever comes.
YIELDS = timedelta(hours=1)


class Births:
    def __init__(self, known: KnownInstances, graph: Graph, places: Places) -> None:
        self._known = known
        self._graph = graph
        self._places = places

    def workflow(self, job_id: int) -> Iterable[int]:
        """The job and all that are bound to it."""
        return self._graph.component(job_id) if job_id in self._graph else (job_id,)

    def of(
        self,
        schedule_id: int,
        job: Job,
        date: datetime,
        zone: str,
        policy: FirePolicy,
        now: datetime,
        bound: int | None,
        yields: bool,
        since: datetime,
    ) -> list[Birth]:
        """Upstreams before what waits for them. Only the job of the schedule itself is queued at once.

        `yields`: it is part of a backlog, or comes after one of its own job. `since`: since when it waits: now, or as
        long as one that it replaces.
        """
        due = due_at(schedule_id, date, policy)
        place_at = since + YIELDS if yields else since
        if due > now:
            own = Birth(job.id, date, due, Status.PENDING, serial=policy.serial, bound=bound)
        else:
            place = self._places.of_birth(job, place_at, due)
            own = Birth(job.id, date, due, Status.QUEUED, since, place, policy.serial, bound)
        made = [own]
        for job_id in self._graph.below(job.id) if job.id in self._graph else ():
            below = self._known.job(job_id)
            moment = _not_before(date, below, zone)
            made.append(Birth(job_id, date, max(due, moment), Status.PENDING, serial=policy.serial))
        return made


def due_at(schedule_id: int, date: datetime, policy: FirePolicy) -> datetime:
    """The logical date, or a little later."""
    return jittered(date, policy.jitter_seconds, str(schedule_id)) if policy.jitter_seconds else date


def _not_before(date: datetime, job: Job, zone: str) -> datetime:
    return not_before_moment(date, parse_clock(job.not_before), zone_named(zone)) if job.not_before else date
