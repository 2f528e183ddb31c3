"""When a schedule fires: what every trigger answers, those that need no calendar, and what is asked of all.

A trigger is a value: it remembers nothing and reads no clock. All moments are aware UTC datetimes. Elsewhere: by the
clock on the wall of a zone (`wallclock`), by the end of the last run (`fixeddelay`), in a calendar (`calendared`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeGuard, runtime_checkable

from jobs.core import timewords

# Where fires cannot be counted by arithmetic they are counted one by one, up to here.
MOST_COUNTED = 10_000


class Trigger(Protocol):
    def next_after(self, moment: datetime) -> datetime | None:
        """The first fire strictly later than `moment`; None = never again."""
        ...

    def describe(self) -> str:
        """In words, such as "every 5 minutes" or "at 02:30 on Monday and Friday (Europe/Berlin)"."""
        ...


@runtime_checkable
class Counting(Protocol):
    """A trigger that knows by arithmetic how often it fires in (after, until]."""

    def count_between(self, after: datetime, until: datetime) -> int: ...


@runtime_checkable
class Following(Protocol):
    """A trigger whose fires follow from ends; as a Trigger it has only its first."""

    def after_end(self, ended_at: datetime) -> datetime | None: ...


# Asked at every fire, and `isinstance` of a protocol looks through the whole class each time.
def is_following(trigger: Trigger) -> TypeGuard[Following]:
    return hasattr(trigger, "after_end")


def is_counting(trigger: Trigger) -> TypeGuard[Counting]:
    return hasattr(trigger, "count_between")


@dataclass(frozen=True)
class Once:
    """At one moment, unless that lies after the end."""

    at: datetime
    end: datetime | None = None
    zone: str = "UTC"  # to say the moment in

    def next_after(self, moment: datetime) -> datetime | None:
        over = self.end is not None and self.at > self.end
        return self.at.astimezone(UTC) if self.at > moment and not over else None

    def count_between(self, after: datetime, until: datetime) -> int:
        fire = self.next_after(after)
        return int(fire is not None and fire <= until)

    def describe(self) -> str:
        return timewords.once(self.at, self.zone)


@dataclass(frozen=True)
class FixedRate:
    """At the anchor and every `every` of elapsed time after it, whatever the clocks on the wall do."""

    anchor: datetime
    every: timedelta
    end: datetime | None = None

    def next_after(self, moment: datetime) -> datetime | None:
        periods = max(0, (moment - self.anchor) // self.every + 1)
        try:
            fire = self.anchor.astimezone(UTC) + periods * self.every
        except OverflowError:
            return None
        return fire if self.end is None or fire <= self.end else None

    def reaching_back_to(self, moment: datetime) -> FixedRate:
        """The same phase, begun no later than the moment.

        For a clock that was set back behind the anchor: what has been firing must not sleep until that comes again.
        """
        periods = max(0, -((moment - self.anchor) // self.every))
        return replace(self, anchor=self.anchor - periods * self.every)

    def count_between(self, after: datetime, until: datetime) -> int:
        if self.end is not None:
            until = min(until, self.end)
        earlier = max(0, (after - self.anchor) // self.every + 1)
        return max(0, (until - self.anchor) // self.every + 1 - earlier)

    def describe(self) -> str:
        return timewords.every(self.every)


@dataclass(frozen=True)
class AtOnce:
    """A first fire at a moment of its own, when it was made, and from then on as `trigger` says.

    Fires are always later than the moment from which they are watched: watch this one from just before `at`.
    """

    trigger: Trigger
    at: datetime

    def next_after(self, moment: datetime) -> datetime | None:
        return self.at.astimezone(UTC) if moment < self.at else self.trigger.next_after(moment)

    def count_between(self, after: datetime, until: datetime) -> int:
        return int(after < self.at <= until) + count_between(self.trigger, max(after, self.at), until)

    def describe(self) -> str:
        return f"{self.trigger.describe()}, the first at once"


def first_after(trigger: Trigger, moment: datetime) -> datetime | None:
    """What a trigger that is watched from `moment` on waits for, as long as nothing of it has run since."""
    return trigger.after_end(moment) if is_following(trigger) else trigger.next_after(moment)


@dataclass(frozen=True)
class Missed:
    """How many fires there were and which was the latest. `capped`: there were more than `count`."""

    count: int
    latest: datetime | None
    capped: bool = False


def missed_between(trigger: Trigger, after: datetime, until: datetime) -> Missed:
    """The fires f with after < f <= until, in bounded work however many there are."""
    latest = latest_between(trigger, after, until)
    if latest is None:
        return Missed(0, None)
    if is_counting(trigger):
        return Missed(trigger.count_between(after, until), latest)
    count, capped = _count(trigger, after, until)
    return Missed(count, latest, capped)


def count_between(trigger: Trigger, after: datetime, until: datetime) -> int:
    """How many fires there are in (after, until]; at most MOST_COUNTED of a trigger that cannot count."""
    if after >= until:
        return 0
    return trigger.count_between(after, until) if is_counting(trigger) else _count(trigger, after, until)[0]


def _count(trigger: Trigger, after: datetime, until: datetime) -> tuple[int, bool]:
    """One by one; True if there are more."""
    count, fire = 0, trigger.next_after(after)
    while fire is not None and fire <= until and count < MOST_COUNTED:
        count, fire = count + 1, trigger.next_after(fire)
    return count, fire is not None and fire <= until


def latest_between(trigger: Trigger, after: datetime, until: datetime) -> datetime | None:
    """The latest fire in (after, until]: halve the time between the latest one known and where there are none."""
    latest, empty_from = None, until
    fire = trigger.next_after(after)
    while fire is not None and fire <= until:
        latest = fire
        middle = latest + (empty_from - latest) / 2
        fire = trigger.next_after(middle)
        if fire is None or fire > until:
            empty_from = middle
            fire = trigger.next_after(latest)
    return latest


def fires(trigger: Trigger, after: datetime, count: int) -> list[datetime]:
    """The next `count` fires after a moment; fewer if there are no more, or if they follow from an end."""
    found: list[datetime] = []
    while len(found) < count:
        fire = trigger.next_after(found[-1]) if found else first_after(trigger, after)
        if fire is None or (found and is_following(trigger)):
            break
        found.append(fire)
    return found
