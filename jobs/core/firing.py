"""Schedules that come due: which of their dates become instances, and what became of the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.core.births import Births, due_at
from jobs.core.calendared import Skipped, blocked_between
from jobs.core.catchup import CatchUp, Due, due_between
from jobs.core.decisions import Birth, Fire, Flag, Rearm, Skip
from jobs.core.inputs import ScheduleChanged
from jobs.core.known import KnownInstances
from jobs.core.marks import in_gaps
from jobs.core.policies import FirePolicy, Overlap
from jobs.core.records import Instance, Job
from jobs.core.states import Status
from jobs.core.timetable import Timetable
from jobs.core.triggers import Trigger, is_following, latest_between
from jobs.core.values import made_often


@dataclass(slots=True)
class _Watched:
    """`seen_until`: every fire up to this moment has been decided, or was never to happen. `next_at`: the next one."""

    job_id: int
    trigger: Trigger
    seen_until: datetime
    policy: FirePolicy
    zone: str
    next_at: datetime | None = None


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
        self._watched: dict[int, _Watched] = {}
        self._of_job: dict[int, int] = {}
        self._timetable: Timetable[int] = Timetable()
        self._flags: list[Flag] = []

    def __contains__(self, schedule_id: int) -> bool:
        """Whether it is watched: it may still fire."""
        return schedule_id in self._watched

    def put(self, told: ScheduleChanged, now: datetime) -> list[Flag | Rearm]:
        """Watch a schedule, from scratch. A trigger that raises is set aside and said so."""
        self.remove(told.schedule_id)
        watched = _Watched(told.job_id, told.trigger, told.watched_from, told.policy, told.zone)
        try:
            following = self._first(told, now)
        except Exception as error:  # noqa: BLE001 - one schedule's arithmetic must not stop all others
            return [_flag(told.schedule_id, told.job_id, error)]
        if following is not None or is_following(told.trigger):
            self._of_job[told.job_id] = told.schedule_id
            self._wait_for(told.schedule_id, watched, following)
        if following is None or told.next_at is not None or not is_following(told.trigger):
            return []
        return [self._rearm(told.schedule_id, told.job_id, following)]

    def remove(self, schedule_id: int) -> None:
        watched = self._watched.pop(schedule_id, None)
        self._timetable.cancel(schedule_id)
        if watched is not None:
            self._of_job.pop(watched.job_id, None)

    def remove_job(self, job_id: int) -> None:
        if job_id in self._of_job:
            self.remove(self._of_job[job_id])

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
                fired.append(self._fire_one(schedule_id, watched, now))
            except Exception as error:  # noqa: BLE001 - one schedule's arithmetic must not stop all others
                self.remove(schedule_id)
                self._flags.append(_flag(schedule_id, watched.job_id, error))
        return fired

    def ended(self, job_id: int, at: datetime) -> list[Rearm]:
        """An instance of the job ended: from the last of them a fixed delay counts on."""
        schedule_id = self._of_job.get(job_id)
        if schedule_id is None:
            return []
        watched = self._watched[schedule_id]
        if not is_following(watched.trigger) or watched.next_at or self._known.under_way([job_id]):
            return []
        # The clock may have been set back meanwhile: a date before the last one would be refused for ever.
        following = watched.trigger.after_end(max(at, watched.seen_until))
        if following is None:
            self.remove(schedule_id)
            return []
        self._wait_for(schedule_id, watched, following)
        return [self._rearm(schedule_id, job_id, following)]

    def _rearm(self, schedule_id: int, job_id: int, following: datetime) -> Rearm:
        return Rearm(schedule_id, job_id, self._known.job(job_id).revision, following)

    def _first(self, told: ScheduleChanged, now: datetime) -> datetime | None:
        if not is_following(told.trigger):
            return told.trigger.next_after(told.watched_from)
        if told.next_at is not None:
            return told.next_at  # what has come to be under way since, by hand, does not put it off
        if told.waits_for_end or self._known.under_way([told.job_id]):
            return None  # its end tells
        return told.trigger.after_end(max(told.watched_from, now) if told.end_is_gone else told.watched_from)

    def _fire_one(self, schedule_id: int, watched: _Watched, now: datetime) -> Fired:
        first, job = watched.next_at, self._known.job(watched.job_id)
        if first is None:
            raise ValueError("it came due without a fire that it waits for")
        after = None if is_following(watched.trigger) else watched.trigger.next_after(first)
        if after is None or after > now:
            # Nearly always. Halving and counting the time since would cost ten times as much as the rest of a fire.
            latest, due = first, _one_due(watched.policy, first, now)
        else:
            latest, due = latest_between(watched.trigger, first, now) or first, _due(watched, now)
            after = watched.trigger.next_after(latest)
        made, skips, replaced = self._instances(schedule_id, watched, job, due.fires, now)
        if due.missed:
            skips = (_missed(watched, due, latest), *skips)
        skips = (*_blocked(watched, now), *_in_gaps(watched, now), *skips)
        following = self._go_on(schedule_id, watched, now, after, made=bool(made))
        fire = Fire(schedule_id, job.id, job.revision, latest, following, due.missed, made, skips)
        return Fired(fire, replaced)

    def _go_on(
        self, schedule_id: int, watched: _Watched, now: datetime, following: datetime | None, *, made: bool
    ) -> datetime | None:
        """Watch for the next fire, and say when it is; one that follows from an end is known when that has come."""
        waits_for_end = False
        if is_following(watched.trigger):
            waits_for_end = made
            following = None if made else watched.trigger.after_end(now)
        if following is None and not waits_for_end:
            self.remove(schedule_id)
        else:
            watched.seen_until = now
            self._wait_for(schedule_id, watched, following)
        return following

    def _wait_for(self, schedule_id: int, watched: _Watched, following: datetime | None) -> None:
        watched.next_at = following
        self._watched[schedule_id] = watched
        if following is not None:
            self._timetable.set(schedule_id, following)

    def _instances(
        self, schedule_id: int, watched: _Watched, job: Job, dates: Sequence[datetime], now: datetime
    ) -> tuple[tuple[Birth, ...], tuple[Skip, ...], tuple[int, ...]]:
        """The instances of each date that may be, the dates that may not with the reason, and whom they replace."""
        late = [date for date in dates if self._is_too_late(schedule_id, watched.policy, job, date, now)]
        skips = [
            Skip("start_deadline", f"is not to start later than {job.start_deadline_seconds:g} s after due", date)
            for date in late
        ]
        left = [date for date in dates if date not in late]
        policy = watched.policy
        # What was missed waits its turn, whatever the policy: else all but the first of them would be skipped at once.
        catching_up = policy.catch_up is CatchUp.ALL and (len(dates) > 1 or _is_late(policy, dates, now))
        yields = any(_is_late(policy, (date,), now) for date in dates) or self._comes_after_backlog(policy, job.id)
        made: list[Birth] = []
        replaced: tuple[int, ...] = ()
        since = now
        for date in left:
            others = self._others(job.id, date)
            bound = None
            if not catching_up:
                refusal, bound = self._refusal(policy, job.id, others)
                if refusal is not None:
                    skips.append(Skip(*refusal, logical_at=date))
                    continue
                if policy.overlap is Overlap.REPLACE:
                    replaced = tuple(other.id for other in others)
                    # In the place of whom it replaces: at the back of the queue each would be replaced in its turn.
                    since = min((o.queued_at for o in others if _waits(o, job.id) and o.queued_at), default=now)
            made += self._births.of(schedule_id, job, date, watched.zone, policy, now, bound, yields, since)
        return tuple(made), tuple(skips), replaced

    @staticmethod
    def _is_too_late(schedule_id: int, policy: FirePolicy, job: Job, date: datetime, now: datetime) -> bool:
        start_by = job.start_by(due_at(schedule_id, date, policy))
        return start_by is not None and now > start_by

    def _comes_after_backlog(self, policy: FirePolicy, job_id: int) -> bool:
        """Whether what was missed of the job waits still: the oldest of it comes first."""
        return policy.serial and any(
            _is_late(policy, (waiting.logical_at,), waiting.queued_at or waiting.due_at)
            for waiting in self._known.queued_of(job_id)
        )

    def _others(self, job_id: int, date: datetime) -> list[Instance]:
        """What is under way of the job, or of its workflow, for another date; a backfill lets fires go first."""
        found = self._known.under_way(self._births.workflow(job_id))
        return [other for other in found if other.logical_at != date and not other.backfill]

    def _refusal(
        self, policy: FirePolicy, job_id: int, others: Iterable[Instance]
    ) -> tuple[tuple[str, str] | None, int | None]:
        """Why a fire makes nothing, as code and sentence; else how many unfinished ones may be found beside it."""
        unfinished = list(others)
        if policy.overlap is Overlap.SKIP:
            return (("overlap", overlap(unfinished[0].id)) if unfinished else None), 1
        if policy.overlap is Overlap.QUEUE:
            waiting = [other for other in unfinished if other.job_id == job_id]
            if len(waiting) > policy.queue_bound:
                return ("queue_bound", f"{policy.queue_bound} instances wait already, which is the bound"), None
            return None, policy.queue_bound + 1
        return None, None


def overlap(instance_id: int) -> str:
    """The reason of a fire that makes no instance because one of the same job has not ended."""
    return f"overlap: instance {instance_id} has not ended"


def _one_due(policy: FirePolicy, fire: datetime, now: datetime) -> Due:
    """What is to be made of the only fire that came due."""
    late = now - fire > timedelta(seconds=policy.misfire_grace_seconds)
    none = (policy.catch_up is CatchUp.SKIP and late) or (policy.catch_up is CatchUp.ALL and policy.catch_up_limit < 1)
    return Due((), 1) if none else Due((fire,), 0)


def _due(watched: _Watched, now: datetime) -> Due:
    """The logical dates that may become instances, oldest first, and how many more came due."""
    policy, grace = watched.policy, timedelta(seconds=watched.policy.misfire_grace_seconds)
    return due_between(watched.trigger, watched.seen_until, now, policy.catch_up, policy.catch_up_limit, grace)


def _is_late(policy: FirePolicy, dates: Sequence[datetime], now: datetime) -> bool:
    """Whether a fire was missed: nobody was there to see it at its time."""
    return bool(dates) and now - dates[-1] > timedelta(seconds=policy.misfire_grace_seconds)


def _waits(instance: Instance, job_id: int) -> bool:
    return instance.job_id == job_id and instance.status is Status.QUEUED and instance.attempts == 0


def _blocked(watched: _Watched, now: datetime) -> tuple[Skip, ...]:
    """What a calendar kept from happening since the last fire."""
    if not isinstance(watched.trigger, Skipped):
        return ()
    trigger, calendar = watched.trigger.trigger, watched.trigger.calendar
    found = blocked_between(trigger, calendar, watched.seen_until, now)
    if found.first is None:
        return ()
    # One closure may follow another: what the fire itself falls into is the reason.
    fire = trigger.next_after(max(watched.seen_until, found.first.begins - datetime.resolution)) or found.first.begins
    reason = f"falls in {(calendar.blocks(fire) or found.first).says}"
    return (Skip("blackout", reason, fire, found.count),)


def _missed(watched: _Watched, due: Due, latest: datetime) -> Skip:
    """What came due and is not made up for: all of it, or all but the latest."""
    first = latest if is_following(watched.trigger) else watched.trigger.next_after(watched.seen_until)
    reason = "was due while nothing was running"
    if len(due.fires) == 1:
        reason += "; the latest stands for it"
    elif due.fires:
        reason += f"; only the latest {len(due.fires)} are made up for"
    return Skip("missed", reason, first or latest, due.missed)


def _in_gaps(watched: _Watched, now: datetime) -> Iterator[Skip]:
    """What does not exist since the last fire because clocks went forward."""
    for gone in in_gaps(watched.trigger, watched.seen_until, now):
        yield Skip(gone.code, gone.says, gone.at, gone.count)


def _flag(schedule_id: int, job_id: int, error: Exception) -> Flag:
    return Flag(schedule_id, job_id, f"{type(error).__name__}: {error}")
