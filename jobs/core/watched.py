"""A schedule that is watched: what came due of it, and which of that is not made up for."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs.core.calendared import Skipped, blocked_between
from jobs.core.catchup import CatchUp, Due, due_between
from jobs.core.decisions import Skip
from jobs.core.inputs import ScheduleChanged
from jobs.core.jitter import jittered
from jobs.core.marks import in_gaps, no_gap_before
from jobs.core.policies import FirePolicy
from jobs.core.triggers import Following, Trigger, is_following, latest_between


@dataclass(slots=True)
class Watched:
    """`seen_until`: every fire up to this moment has been decided, or was never to happen. `next_at`: the next one.

    `following`: the trigger, if its fires are counted from ends. `grace`: what is later than this was missed.
    """

    schedule_id: int
    job_id: int
    trigger: Trigger
    seen_until: datetime
    policy: FirePolicy
    zone: str
    next_at: datetime | None = None
    following: Following | None = field(init=False)
    grace: timedelta = field(init=False)
    _no_gap_before: datetime = field(init=False)

    def __post_init__(self) -> None:
        self.following = self.trigger if is_following(self.trigger) else None
        self.grace = timedelta(seconds=self.policy.misfire_grace_seconds)
        self._no_gap_before = self.seen_until

    @classmethod
    def of(cls, told: ScheduleChanged) -> Watched:
        return cls(told.schedule_id, told.job_id, told.trigger, told.watched_from, told.policy, told.zone)

    def due_at(self, date: datetime) -> datetime:
        """The logical date, or a little later."""
        seconds = self.policy.jitter_seconds
        return jittered(date, seconds, str(self.schedule_id)) if seconds else date

    def is_late(self, date: datetime, now: datetime) -> bool:
        """Whether the fire was missed: nobody was there to see it at its time."""
        return now - date > self.grace

    def came_due(self, first: datetime, now: datetime) -> tuple[datetime, Due, datetime | None]:
        """The latest fire by now, what is to be made of it and of all since `first`, and the fire after it."""
        after = None if self.following else self.trigger.next_after(first)
        if after is None or after > now:
            # Nearly always. Halving and counting the time since would cost ten times as much as the rest of a fire.
            return first, self._one_due(first, now), after
        latest = latest_between(self.trigger, first, now) or first
        policy = self.policy
        due = due_between(self.trigger, self.seen_until, now, policy.catch_up, policy.catch_up_limit, self.grace)
        return latest, due, self.trigger.next_after(latest)

    def _one_due(self, fire: datetime, now: datetime) -> Due:
        policy = self.policy
        if policy.catch_up is CatchUp.SKIP and self.is_late(fire, now):
            return Due((), 1)
        return Due((), 1) if policy.catch_up is CatchUp.ALL and policy.catch_up_limit < 1 else Due((fire,), 0)

    def left_out(self, due: Due, latest: datetime, now: datetime) -> list[Skip]:
        """What has not happened since the last fire: in a closure, in a gap of the clocks, or missed."""
        skips = self._blocked(self.trigger, now) if isinstance(self.trigger, Skipped) else []
        if now >= self._no_gap_before:
            gaps = in_gaps(self.trigger, self.seen_until, now)
            skips += [Skip(gone.code, gone.says, gone.at, gone.count) for gone in gaps]
            self._no_gap_before = no_gap_before(self.trigger, now)
        if due.missed:
            skips.append(self._missed(due, latest))
        return skips

    def _blocked(self, skipped: Skipped, now: datetime) -> list[Skip]:
        """What a calendar kept from happening since the last fire."""
        trigger, calendar = skipped.trigger, skipped.calendar
        found = blocked_between(trigger, calendar, self.seen_until, now)
        if found.first is None:
            return []
        # One closure may follow another: what the fire itself falls into is the reason.
        fire = trigger.next_after(max(self.seen_until, found.first.begins - datetime.resolution)) or found.first.begins
        reason = f"falls in {(calendar.blocks(fire) or found.first).says}"
        return [Skip("blackout", reason, fire, found.count)]

    def _missed(self, due: Due, latest: datetime) -> Skip:
        """What came due and is not made up for: all of it, or all but the latest."""
        first = latest if self.following else self.trigger.next_after(self.seen_until)
        reason = "was due while nothing was running"
        if len(due.fires) == 1:
            reason += "; the latest stands for it"
        elif due.fires:
            reason += f"; only the latest {len(due.fires)} are made up for"
        return Skip("missed", reason, first or latest, due.missed)
