"""Quiet troubles: what goes wrong without failing, and so stands in no list of failures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q

from dashboard.presentation import amounts
from dashboard.presentation.looks import Look
from dashboard.presentation.rows import More, Regions
from dashboard.presentation.runs import MANY_FAILED, MANY_SKIPPED
from dashboard.presentation.schedules import words_of
from dashboard.presentation.skipping import why_skipped
from jobs.models import LARGE_OF_JOB, Attempt, Event, Job, Node, Schedule
from jobs.store.dismissals import PAUSED_BY
from jobs.trials import is_trial

MOST_SHOWN = 8
MOST_READ = 500
SLOWER_BY = 2.0
# A job that usually takes a second is not in trouble because it took three.
SLOW_FROM = timedelta(seconds=30)
# The engine makes a fire within milliseconds; a restart takes some seconds.
OVERDUE_FROM = timedelta(seconds=30)

# A clock that was set is told for so long.
TOLD_FOR = timedelta(days=1)

FAULTY = Look("set aside", "warn", "bad")
OVERDUE = Look("did not fire", "alarm", "bad")
SLOW = Look("slower than usual", "hourglass", "warn")
FAILED = Look("failed again and again", "cross", "bad")
SKIPPED = Look("skipped", "skip", "warn")
DRAINING = Look("draining", "pause", "quiet")
CLOCK = Look("clock set", "alarm", "warn")
SLEPT = Look("was asleep", "alarm", "warn")


# Along the index job_failing.
FAILING = Q(failures_in_a_row__gte=MANY_FAILED) & ~is_trial()


@dataclass(frozen=True, slots=True)
class Trouble:
    """`page` and `id`: the name and the number of the page to look at; `name` is what the link says.

    `since`, if given, is since when.
    """

    look: Look
    page: str
    id: int
    name: str
    sentence: str
    since: datetime | None = None

    @property
    def shown_id(self) -> str:
        return str(self.id)


def read_troubles(now: datetime) -> Regions:
    """Regions troubles and troubles_more, the worst first. Seven queries of at most 500 rows each."""
    parts = (_faulty(), _overdue(now), _failing(), _slow(now), _skipped(now), _clocks(now), _draining())
    found = [row for part in parts for row in part]
    hidden = len(found) - MOST_SHOWN
    more = [("more", More(str(hidden), "more"))] if hidden > 0 else []
    return {"troubles": found[:MOST_SHOWN], "troubles_more": more}


def _faulty() -> Iterator[tuple[str, Trouble]]:
    found = Schedule.objects.exclude(fault="").order_by("job__name")
    for pk, job_id, name, fault in found.values_list("pk", "job_id", "job__name", "fault")[:MOST_READ]:
        yield f"f{pk}", Trouble(FAULTY, "job", job_id, name, f"Its schedule is not used until it is edited: {fault}")


def _overdue(now: datetime) -> Iterator[tuple[str, Trouble]]:
    """Schedules whose moment has come and gone: no engine runs, or none of them sees it."""
    late = Schedule.objects.filter(next_at__lt=now - OVERDUE_FROM, job__paused_at=None, fault="")
    late = late.select_related("job").defer(*LARGE_OF_JOB, "job__description").order_by("next_at")
    for schedule in late[:MOST_READ]:
        sentence = f"{words_of(schedule).capitalize()}, and did not fire when it should have"
        yield f"o{schedule.pk}", Trouble(OVERDUE, "job", schedule.job_id, schedule.job.name, sentence, schedule.next_at)


def _slow(now: datetime) -> Iterator[tuple[str, Trouble]]:
    long_running = Attempt.objects.filter(
        ~Q(status="ended"), started_at__lt=now - SLOW_FROM, instance__job__usual_seconds__isnull=False
    ).order_by("started_at")
    fields = ("instance_id", "instance__job__name", "started_at", "instance__job__usual_seconds")
    for instance_id, name, started_at, usual in long_running.values_list(*fields)[:MOST_READ]:
        if (now - started_at).total_seconds() > usual * SLOWER_BY:
            sentence = f"Runs for more than twice its usual {amounts.duration(usual)}"
            yield f"r{instance_id}", Trouble(SLOW, "instance", instance_id, name, sentence, started_at)


def _failing() -> Iterator[tuple[str, Trouble]]:
    """Since their last success. One that somebody paused is known to him; one that paused itself over it may not be."""
    found = Job.objects.filter(FAILING).filter(Q(paused_at=None) | Q(paused_by=PAUSED_BY), delete_requested_at=None)
    fields = ("pk", "name", "failures_in_a_row", "paused_at")
    for pk, name, times, paused_at in found.order_by("-failures_in_a_row", "name").values_list(*fields)[:MOST_READ]:
        look = Look(f"failed {times} times in a row", FAILED.icon, FAILED.tone)
        sentence = "It is paused over that until it is resumed" if paused_at else "None has succeeded since"
        yield f"x{pk}", Trouble(look, "job", pk, name, sentence)


def _skipped(now: datetime) -> Iterator[tuple[str, Trouble]]:
    found = Schedule.objects.filter(skipped_in_a_row__gte=MANY_SKIPPED, job__paused_at=None)
    fields = ("pk", "job_id", "job__name", "skipped_in_a_row")
    rows = list(found.order_by("-skipped_in_a_row", "job__name").values_list(*fields)[:MOST_READ])
    why = why_skipped([job_id for _, job_id, *_ in rows[:MOST_SHOWN]], now)
    for pk, job_id, name, times in rows:
        look = Look(f"skipped {times} times in a row", SKIPPED.icon, SKIPPED.tone)
        sentence = why.get(job_id, "").rstrip(".")
        yield f"s{pk}", Trouble(look, "job", job_id, name, sentence[:1].upper() + sentence[1:])


def _draining() -> Iterator[tuple[str, Trouble]]:
    found = Node.objects.filter(drained_at__isnull=False, stopped_at=None).order_by(F("drained_at").asc())
    for pk, name, at, by in found.values_list("pk", "name", "drained_at", "drained_by")[:MOST_READ]:
        sentence = f"Starts nothing new{f', as {by} wished' if by else ''}"
        yield f"d{pk}", Trouble(DRAINING, "node", pk, name, sentence, at)


def _clocks(now: datetime) -> Iterator[tuple[str, Trouble]]:
    """The last that happened to the clock of each node."""
    recent = Event.objects.filter(kind="clock.changed", at__gt=now - TOLD_FOR)
    told: dict[int, tuple[datetime, dict[str, Any]]] = {}
    for at, data in recent.order_by("id").values_list("at", "data")[:MOST_READ]:
        told[data["node"]] = (at, data)
    if not told:
        return
    for pk, name in Node.objects.filter(pk__in=told).order_by("name").values_list("pk", "name"):
        at, data = told[pk]
        slept = data["suspended_seconds"] > abs(data["set_by_seconds"])
        yield f"c{pk}", Trouble(SLEPT if slept else CLOCK, "node", pk, name, _what_clock_did(data, slept), at)


def _what_clock_did(data: dict[str, Any], slept: bool) -> str:
    set_by, anew = data["set_by_seconds"], data["reanchored"]
    if slept:
        said = f"The machine slept for {amounts.duration(data['suspended_seconds'])}"
    elif set_by:
        said = f"Its clock went {'back' if set_by < 0 else 'forward'} by {amounts.duration(abs(set_by))}"
    else:
        said = "Its clock was set back while nothing ran"
    return f"{said}; {anew:,} {'schedule begins' if anew == 1 else 'schedules begin'} anew" if anew else said
