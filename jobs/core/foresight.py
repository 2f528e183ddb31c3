"""What a forecast warns of, each a sentence with numbers: what outruns its interval, demand beyond capacity, deadlines
that cannot be met, schedules that will not fire again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from jobs.core.coreuse import Part
from jobs.core.course import Course, JobCourse
from jobs.core.present import DurationFrom, Present
from jobs.core.records import Demand
from jobs.core.triggers import Once, is_following

MOST_WARNINGS = 100
FROM_WORDS = {
    DurationFrom.GIVEN: "as given",
    DurationFrom.USUAL: "as usual",
    DurationFrom.TIME_LIMIT: "its time limit",
    DurationFrom.GUESS: "a guess",
}


@dataclass(frozen=True, slots=True)
class Warned:
    """`job` is a name, empty where it is about all. `code` and job tell two warnings apart."""

    code: str
    job: str
    sentence: str


def warnings(present: Present, course: Course) -> tuple[Warned, ...]:
    """The first MOST_WARNINGS, the gravest kinds first."""
    found = [
        *_too_large(present, course),
        *_never_in_time(present, course),
        *_outrun(present, course),
        *_overload(course),
        *_last_fires(present, course),
        *_left_waiting(course),
    ]
    return tuple(found[:MOST_WARNINGS])


def _too_large(present: Present, course: Course) -> Iterator[Warned]:
    memory = [machine.memory_mb for machine in present.machines]
    most_memory = 0 if 0 in memory else max(memory)
    for job in present.jobs:
        if _is_used(course.jobs[job.id]) and not _fits(job.demand, course.largest_slots, most_memory):
            has = _amount(Demand(course.largest_slots, most_memory))
            sentence = f"Job {job.name!r} needs {_amount(job.demand)}, and no node can give more than {has}."
            yield Warned("node_too_small", job.name, sentence)


def _fits(demand: Demand, slots: int, memory_mb: int) -> bool:
    return demand.cores <= slots and (not memory_mb or demand.memory_mb <= memory_mb)


def _never_in_time(present: Present, course: Course) -> Iterator[Warned]:
    for job in present.jobs:
        sums = course.jobs[job.id]
        late, seconds = sums.skips["start_deadline"], job.start_deadline_seconds or 0.0
        if late:
            of = late + sums.starts
            which = f"None of {of:,} instances" if late == of else f"{late:,} of {of:,} instances"
            verb = "can start" if late == of else "cannot start"
            sentence = f"{which} of job {job.name!r} {verb} within its start deadline of {span(seconds)}."
            yield Warned("start_deadline", job.name, sentence)


def _outrun(present: Present, course: Course) -> Iterator[Warned]:
    following = {one.job_id for one in present.schedules if is_following(one.trigger)}
    for sums in course.jobs.values():
        gap = sums.shortest_gap_seconds
        if sums.job_id in following or gap is None:
            continue
        lost = sums.skips["overlap"] + sums.skips["queue_bound"]
        if sums.seconds > gap:
            takes = f"takes {span(sums.seconds)} ({FROM_WORDS[sums.duration_from]}) and is due every {span(gap)}"
            then = (
                f"{lost:,} of {sums.fires:,} fires are skipped" if lost else "its instances pile up or run side by side"
            )
            yield Warned("outruns_interval", sums.name, f"Job {sums.name!r} {takes} at its closest: {then}.")
        elif lost:
            waits = f"it waits for up to {span(sums.longest_wait_seconds)}" if sums.waits else "it is still under way"
            sentence = (
                f"{lost:,} of {sums.fires:,} fires of job {sums.name!r} are skipped: {waits} when the next is due."
            )
            yield Warned("overlap", sums.name, sentence)


def _overload(course: Course) -> Iterator[Warned]:
    """Stretches in which more is demanded than there is, the worst first."""
    stretches: list[list[Part]] = []
    for part in course.parts:
        if part.demanded <= course.slots:
            continue
        last = stretches[-1][-1] if stretches else None
        if last is not None and (part.begins - last.begins).total_seconds() <= course.part_seconds:
            stretches[-1].append(part)
        else:
            stretches.append([part])
    stretches.sort(key=lambda parts: max(part.demanded for part in parts), reverse=True)
    for parts in stretches[:10]:
        worst = max(parts, key=lambda part: part.demanded)
        begins, ends = parts[0].begins, parts[-1].begins + timedelta(seconds=course.part_seconds)
        share = 100 * worst.demanded / course.slots
        sentence = (
            f"From {moment(begins)} to {moment(ends)} what is due needs up to {worst.demanded:.1f} slots on average, "
            f"and there are {course.slots} ({share:.0f} %): something has to wait."
        )
        yield Warned("overload", "", sentence)
    if len(stretches) > 10:
        yield Warned("overload", "", f"{len(stretches) - 10:,} more stretches ask for more than there is.")


def _last_fires(present: Present, course: Course) -> Iterator[Warned]:
    for told in present.schedules:
        at = course.jobs[told.job_id].fired_last_at
        if at is not None and not isinstance(told.trigger, Once) and not is_following(told.trigger):
            name = course.jobs[told.job_id].name
            yield Warned("last_fire", name, f"The schedule of job {name!r} fires for the last time at {moment(at)}.")
    for name, words in present.over:
        sentence = f"The schedule of job {name!r} ({words}) never fires again: it has come to its end."
        yield Warned("never_fires", name, sentence)


def _left_waiting(course: Course) -> Iterator[Warned]:
    if course.waiting:
        job_id, due_at, _ = course.waiting[0]
        sentence = (
            f"{len(course.waiting):,} instances still wait at {moment(course.reached)}; the oldest is of job "
            f"{course.jobs[job_id].name!r}, due at {moment(due_at)}."
        )
        yield Warned("left_waiting", "", sentence)


def _is_used(sums: JobCourse) -> bool:
    return bool(sums.instances or sums.fires)


def span(seconds: float) -> str:
    """Such as "45 s", "12.5 min", "3 h", "2 days"."""
    for size, word in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (seconds == size and word != "days"):
            return f"{round(seconds / size, 1):g} {word}"
    return f"{round(seconds, 1):g} s"


def moment(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _amount(demand: Demand) -> str:
    cores = "1 core" if demand.cores == 1 else f"{demand.cores} cores"
    return f"{cores} and {demand.memory_mb} MB" if demand.memory_mb else cores


def new_ones(before: Sequence[Warned], after: Sequence[Warned]) -> list[Warned]:
    """Those of `after` that `before` has no like of."""
    known = {(one.code, one.job) for one in before}
    return [one for one in after if (one.code, one.job) not in known]
