"""Schedules that come due: which of their dates become instances, and what became of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jobs.core.births import Births, Turn
from jobs.core.catchup import CatchUp
from jobs.core.decisions import Birth, Fire, Flag, Rearm, Skip
from jobs.core.inputs import ScheduleChanged
from jobs.core.known import KnownInstances
from jobs.core.overlaps import FREE, Overlaps, place_of_replaced
from jobs.core.records import Instance, Job
from jobs.core.timetable import Timetable
from jobs.core.triggers import is_following
from jobs.core.values import made_often
from jobs.core.watched import Watched


@made_often
@dataclass(frozen=True, slots=True)
class Fired:
    """One fire, and the instances that are cancelled for what it makes."""

    fire: Fire
    replaced: tuple[int, ...] = ()


class Schedules:
    """The schedules of this engine and the timetable of their next fires."""

    def __init__(self, known: KnownInstances, births: Births) -> None:
        self._known = known
        self._births = births
        self._overlaps = Overlaps(known, births)
        self._watched: dict[int, Watched] = {}
        self._of_job: dict[int, Watched] = {}
        self._timetable: Timetable[int] = Timetable()
        self._flags: list[Flag] = []

    def __contains__(self, schedule_id: int) -> bool:
        """Whether it is watched: it may still fire."""
        return schedule_id in self._watched

    def put(self, told: ScheduleChanged, now: datetime) -> list[Flag | Rearm]:
        """Watch a schedule, from scratch. A trigger that raises is set aside and said so."""
        self.remove(told.schedule_id)
        watched = Watched.of(told)
        try:
            following = self._first(told, now)
        except Exception as error:  # noqa: BLE001 - one schedule's arithmetic must not stop all others
            return [_flag(watched, error)]
        if following is not None or watched.following is not None:
            self._of_job[told.job_id] = watched
            self._wait_for(watched, following)
        if following is None or told.next_at is not None or watched.following is None:
            return []
        return [self._rearm(watched, following)]

    def remove(self, schedule_id: int) -> None:
        watched = self._watched.pop(schedule_id, None)
        self._timetable.cancel(schedule_id)
        if watched is not None:
            self._of_job.pop(watched.job_id, None)

    def watches(self, job_id: int) -> bool:
        """Whether the job has a schedule that may fire."""
        return job_id in self._of_job

    def remove_job(self, job_id: int) -> None:
        if job_id in self._of_job:
            self.remove(self._of_job[job_id].schedule_id)

    def next_moment(self) -> datetime | None:
        return self._timetable.next_moment()

    def take_flags(self) -> list[Flag]:
        """Schedules that were set aside by the last `fire`."""
        flags, self._flags = self._flags, []
        return flags

    def fire(self, now: datetime) -> list[Fired]:
        """At most one fire per schedule, which stands for all that came due since the last."""
        fired: list[Fired] = []
        for schedule_id in list(self._timetable.take_due(now)):
            watched = self._watched[schedule_id]
            try:
                fired.append(self._fire_one(watched, now))
            except Exception as error:  # noqa: BLE001 - one schedule's arithmetic must not stop all others
                self.remove(schedule_id)
                self._flags.append(_flag(watched, error))
        return fired

    def ended(self, job_id: int, at: datetime) -> list[Rearm]:
        """An instance of the job ended: from the last of them a fixed delay counts on."""
        watched = self._of_job.get(job_id)
        if watched is None or watched.following is None:
            return []
        if watched.next_at or self._known.is_under_way(job_id):
            return []
        # The clock may have been set back meanwhile: a date before the last one would be refused for ever.
        following = watched.following.after_end(max(at, watched.seen_until))
        if following is None:
            self.remove(watched.schedule_id)
            return []
        self._wait_for(watched, following)
        return [self._rearm(watched, following)]

    def _rearm(self, watched: Watched, following: datetime) -> Rearm:
        revision = self._known.job(watched.job_id).revision
        return Rearm(watched.schedule_id, watched.job_id, revision, following)

    def _first(self, told: ScheduleChanged, now: datetime) -> datetime | None:
        if not is_following(told.trigger):
            return told.trigger.next_after(told.watched_from)
        if told.next_at is not None:
            return told.next_at  # what has come to be under way since, by hand, does not put it off
        if told.waits_for_end or self._known.is_under_way(told.job_id):
            return None  # its end tells
        return told.trigger.after_end(max(told.watched_from, now) if told.end_is_gone else told.watched_from)

    def _fire_one(self, watched: Watched, now: datetime) -> Fired:
        first, job = watched.next_at, self._known.job(watched.job_id)
        if first is None:
            raise ValueError("it came due without a fire that it waits for")
        latest, due, after = watched.came_due(first, now)
        made, skips, replaced = self._instances(watched, job, due.fires, now)
        skips = [*watched.left_out(due, latest, now), *skips]
        following = self._go_on(watched, now, after, made=bool(made))
        fire = Fire(watched.schedule_id, job.id, job.revision, latest, following, due.missed, tuple(made), tuple(skips))
        return Fired(fire, replaced)

    def _go_on(self, watched: Watched, now: datetime, following: datetime | None, *, made: bool) -> datetime | None:
        """Watch for the next fire, and say when it is; one that follows from an end is known when that has come."""
        waits_for_end = False
        if watched.following is not None:
            waits_for_end = made
            following = None if made else watched.following.after_end(now)
        if following is None and not waits_for_end:
            self.remove(watched.schedule_id)
        else:
            watched.seen_until = now
            self._wait_for(watched, following)
        return following

    def _wait_for(self, watched: Watched, following: datetime | None) -> None:
        watched.next_at = following
        self._watched[watched.schedule_id] = watched
        if following is not None:
            self._timetable.set(watched.schedule_id, following)

    def _instances(
        self, watched: Watched, job: Job, dates: Sequence[datetime], now: datetime
    ) -> tuple[list[Birth], list[Skip], tuple[int, ...]]:
        """The instances of each date that may be, the dates that may not with the reason, and whom they replace."""
        in_time, skips = _in_time(watched, job, dates, now)
        # What was missed waits its turn, whatever the policy: else all but the first of them would be skipped at once.
        all_of_them = watched.policy.catch_up is CatchUp.ALL
        catching_up = all_of_them and bool(dates) and (len(dates) > 1 or watched.is_late(dates[-1], now))
        made: list[Birth] = []
        replaced: tuple[Instance, ...] = ()
        for date in in_time:
            meeting = FREE if catching_up else self._overlaps.meet(watched, date)
            if meeting.refused is not None:
                skips.append(Skip(*meeting.refused, logical_at=date))
                continue
            if not catching_up:
                replaced = meeting.replaces
            yields = watched.is_late(dates[0], now) or self._overlaps.comes_after_backlog(watched)
            since = place_of_replaced(job.id, replaced, now) if replaced else now
            made += self._births.of(watched, job, date, now, Turn(since, yields, meeting.bound))
        return made, skips, tuple(one.id for one in replaced)


def _in_time(
    watched: Watched, job: Job, dates: Sequence[datetime], now: datetime
) -> tuple[Sequence[datetime], list[Skip]]:
    """Those of the dates that may still start, and the others with the reason."""
    if job.start_deadline_seconds is None:
        return dates, []
    reason = f"is not to start later than {job.start_deadline_seconds:g} s after due"
    late = [date for date in dates if (by := job.start_by(watched.due_at(date))) is not None and now > by]
    return [date for date in dates if date not in late], [Skip("start_deadline", reason, date) for date in late]


def _flag(watched: Watched, error: Exception) -> Flag:
    return Flag(watched.schedule_id, watched.job_id, f"{type(error).__name__}: {error}")
