"""Starts what admission lets start, and says of the others why they wait, where that has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from jobs.core.admission import Surroundings, admit
from jobs.core.cores import CoreManager
from jobs.core.decisions import Decision, Prepare, Start, Unprepare, Wait
from jobs.core.known import KnownInstances, Line, Run
from jobs.core.limits import Limits
from jobs.core.packages import Preparations
from jobs.core.places import Places
from jobs.core.records import Allocation, Hold
from jobs.core.waiting import Waiting


class Starts:
    """`stopped`: the sentence that says why nothing may start here, else empty. `kept_for`: the big one, if any, for
    which cores that come free are kept. `look_again_at`: when time alone may let something start. `startable`: how many
    wait for nothing but room or their turn, None while nothing may start.
    """

    def __init__(
        self,
        manager: CoreManager,
        known: KnownInstances,
        waiting: Waiting,
        limits: Limits,
        places: Places,
        new_token: Callable[[], str],
        patience: timedelta,
        node: str,
    ) -> None:
        self.stopped = ""
        self.kept_for: int | None = None
        self.look_again_at: datetime | None = None
        self.startable: int | None = None
        self._manager = manager
        self._known = known
        self._waiting = waiting
        self._limits = limits
        self._places = places
        self._new_token = new_token
        self._patience = patience
        self.preparations = Preparations(node)
        self._held: dict[int, Hold] = {}
        self._wanted: list[Prepare | Unprepare] = []

    def admit(self, now: datetime, load: Mapping[int, float]) -> list[Decision]:
        """`load`: busy share of each core, to choose the idlest."""
        self.look_again_at = None
        for job_id in self._known.take_freed():
            self._waiting.ready.unpark(job_id)
        if self.stopped or not len(self._waiting.ready):
            self.kept_for = None
            self.startable = None if self.stopped else 0
            self._note_unneeded()
            return []
        around = Surroundings(
            self._waiting.ready,
            self._manager,
            self._limits,
            self._seconds,
            self._queued_at,
            self._known.busy_with,
            lambda: self._known.ends,
            load,
            self._patience,
            self.preparations,
        )
        admission = admit(around, now)
        self.kept_for = admission.kept_for
        self.look_again_at = admission.look_again_at
        self.startable = admission.startable
        decisions: list[Decision] = [self._start(instance_id, held, now) for instance_id, held in admission.starts]
        for instance_id, hold in admission.holds.items():
            # Most are there already, which is known in a moment: not worth a row.
            if instance_id not in admission.prepares.values():
                decisions.extend(self.hold(instance_id, hold))
        for key, instance_id in admission.prepares.items():
            self._wanted.append(Prepare(key, self._known.instances[instance_id].job_id))
        self._note_unneeded()
        return decisions

    def take_preparations(self) -> tuple[Prepare | Unprepare, ...]:
        """What has to be seen to since this was last asked."""
        wanted, self._wanted = self._wanted, []
        return tuple(wanted)

    def hold(self, instance_id: int, hold: Hold) -> list[Wait]:
        """Only a reason that changed is written: a queue that stands still costs no rows."""
        if self._held.get(instance_id) == hold:
            return []
        self._held[instance_id] = hold
        return [Wait(instance_id, self._known.instances[instance_id].job_id, hold)]

    def is_stuck(self, line: Line, now: datetime) -> bool:
        """Whether the queued instances of the line wait for something else than room or their turn."""
        job_id, serial = line
        job = self._known.find_job(job_id)
        if job is None:
            return False
        if not self._manager.can_ever(job.demand) or (serial and self._known.is_busy(job_id)):
            return True
        if not self.preparations.is_settled(job.environment):
            return True
        return self._limits.lacks(job.limits, job.rates, now) is not None

    def forget(self, instance_id: int) -> None:
        """It waits no more, or is not this engine's business."""
        self._held.pop(instance_id, None)

    def _note_unneeded(self) -> None:
        if self.preparations.any_asked():
            unneeded = self.preparations.take_unneeded(self._waiting.ready.environments())
            self._wanted += map(Unprepare, unneeded)

    def _seconds(self, instance_id: int) -> float | None:
        return self._known.job(self._known.instances[instance_id].job_id).expected_seconds

    def _queued_at(self, instance_id: int) -> datetime:
        instance = self._known.instances[instance_id]
        return instance.queued_at or instance.due_at

    def _start(self, instance_id: int, allocation: Allocation, now: datetime) -> Start:
        instance = self._known.instances[instance_id]
        job = self._known.job(instance.job_id)
        self.forget(instance_id)
        attempt = instance.attempts + 1
        run = Run(self._new_token(), attempt, allocation, now)
        self._waiting.started(instance_id)
        self._places.started(instance)
        self._known.started(instance_id, run)
        needs = self._waiting.needs_of(instance)
        return Start(instance_id, job.id, job.revision, attempt, run.token, allocation, needs.limits, needs.rates)
