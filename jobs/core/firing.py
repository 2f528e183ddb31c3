"""Schedules that come due: which fire makes an instance, and what became of the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from jobs.core.decisions import Fire, Flag
from jobs.core.inputs import ScheduleChanged
from jobs.core.known import KnownInstances
from jobs.core.order import OrderKey
from jobs.core.timetable import Timetable
from jobs.core.triggers import Trigger, missed_between


@dataclass(frozen=True, slots=True)
class _Watched:
    """`seen_until`: every fire up to this moment has been decided, or was never to happen."""

    job_id: int
    trigger: Trigger
    seen_until: datetime


class Schedules:
    """The schedules of this engine and the timetable of their next fires."""

    def __init__(self) -> None:
        self._watched: dict[int, _Watched] = {}
        self._timetable: Timetable[int] = Timetable()
        self._flags: list[Flag] = []

    def put(self, told: ScheduleChanged) -> list[Flag]:
        """Watch a schedule, from scratch. A trigger that raises is set aside and said so."""
        self.remove(told.schedule_id)
        watched = _Watched(told.job_id, told.trigger, told.watched_from)
        try:
            following = told.trigger.next_after(told.watched_from)
        except Exception as error:  # noqa: BLE001 - one schedule's arithmetic must not stop all others
            return [_flag(told.schedule_id, told.job_id, error)]
        if following is not None:
            self._watched[told.schedule_id] = watched
            self._timetable.set(told.schedule_id, following)
        return []

    def remove(self, schedule_id: int) -> None:
        self._watched.pop(schedule_id, None)
        self._timetable.cancel(schedule_id)

    def remove_job(self, job_id: int) -> None:
        for schedule_id in [i for i, watched in self._watched.items() if watched.job_id == job_id]:
            self.remove(schedule_id)

    def next_moment(self) -> datetime | None:
        return self._timetable.next_moment()

    def take_flags(self) -> list[Flag]:
        """Schedules that were set aside by the last `fire`."""
        flags, self._flags = self._flags, []
        return flags

    def fire(self, now: datetime, known: KnownInstances, order: OrderKey) -> list[Fire]:
        """At most one fire per schedule: what was missed while nothing was running coalesces into the latest."""
        fires: list[Fire] = []
        for schedule_id in list(self._timetable.take_due(now)):
            watched = self._watched[schedule_id]
            try:
                fires.append(self._fire_one(schedule_id, watched, now, known, order))
            except Exception as error:  # noqa: BLE001 - one schedule's arithmetic must not stop all others
                self.remove(schedule_id)
                self._flags.append(_flag(schedule_id, watched.job_id, error))
        return fires

    def _fire_one(
        self, schedule_id: int, watched: _Watched, now: datetime, known: KnownInstances, order: OrderKey
    ) -> Fire:
        due = missed_between(watched.trigger, watched.seen_until, now)
        if due.latest is None:
            raise ValueError("its trigger named a moment, and then no fire up to that moment")
        following = watched.trigger.next_after(now)
        job = known.job(watched.job_id)
        unfinished = known.unfinished_of(job.id)
        self._watched[schedule_id] = replace(watched, seen_until=now)
        if following is None:
            self.remove(schedule_id)
        else:
            self._timetable.set(schedule_id, following)
        return Fire(
            schedule_id,
            job.id,
            job.revision,
            due.latest,
            following,
            missed=due.count - 1,
            queued_at=now,
            order_key=order(job.priority, now),
            reason=overlap(unfinished) if unfinished is not None else "",
        )


def overlap(instance_id: int) -> str:
    """The reason of a fire that makes no instance because one of the same job has not ended."""
    return f"overlap: instance {instance_id} has not ended"


def _flag(schedule_id: int, job_id: int, error: Exception) -> Flag:
    return Flag(schedule_id, job_id, f"{type(error).__name__}: {error}")
