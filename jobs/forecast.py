"""What a simulation saw, as values that JSON can carry: for command, API and page. Moments are ISO texts in UTC."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from jobs.budget import Budget
from jobs.core.course import MOST_ROWS, Course, JobCourse, SimulatedRun
from jobs.core.foresight import Warned, moment, span, warnings
from jobs.core.present import Durations, Present
from jobs.core.simulate import simulate
from jobs.core.whatif import Change, Comparison, what_if

LONGEST_DAYS = 31.0
# So long somebody waits for an answer, loading included; a week of a few hundred schedules takes less.
SECONDS_WHILE_SOMEBODY_WAITS = 3.0


def forecast(
    present: Present, *, days: float, guess_seconds: float, budget: Budget, job_names: Iterable[str] = ()
) -> dict[str, Any]:
    """One simulation with all that it warns of. `job_names`: of these jobs only; without any, of all, with the sums of
    those that wait and skip most.
    """
    names = set(job_names)
    course = simulate(present, days=days, durations=Durations(guess_seconds), may_go_on=budget)
    warned = [_warning(one) for one in warnings(present, course) if not names or one.job in names]
    return _stretch(course, budget) | _shape(present, course, names) | {"warnings": warned}


def compared(present: Present, change: Change, *, days: float, guess_seconds: float, budget: Budget) -> dict[str, Any]:
    """Two simulations, without and with the change."""
    found = what_if(present, change, days=days, durations=Durations(guess_seconds), may_go_on=budget)
    return _stretch(found.before, budget) | _comparison(found, change) | {"notes": [*present.notes]}


def _stretch(course: Course, budget: Budget) -> dict[str, Any]:
    """From when to when, and why not for all of the time that was asked for."""
    because = ""
    if course.cut:
        because = (
            f"Stopped at {moment(course.reached)} after {span(budget.seconds)} of computing: everything here is true "
            f"up to then, not up to {moment(course.until)} as asked. Ask for a shorter time, or run manage.py simulate "
            "--within with more seconds."
        )
    return {
        "from": _iso(course.begins),
        "until": _iso(course.until),
        "reached": _iso(course.reached),
        "cut": course.cut,
        "cut_because": because,
    }


def _shape(present: Present, course: Course, wanted: set[str]) -> dict[str, Any]:
    names = {job.id: job.name for job in present.jobs}
    sums = [one for one in course.jobs.values() if (one.name in wanted if wanted else one.instances or one.fires)]
    sums.sort(key=lambda one: (-one.waited_seconds, -one.skipped, -one.starts, one.name))
    return {
        "guess_seconds": course.guess_seconds,
        "slots": course.slots,
        "totals": _totals(course),
        "core_use": _core_use(course),
        "jobs": [_job(one) for one in sums[:MOST_ROWS]],
        "jobs_left_out": max(0, len(sums) - MOST_ROWS),
        "fires": [
            {
                "job": names[one.job_id],
                "logical_at": _iso(one.logical_at),
                "instances": one.instances,
                "missed": one.missed,
            }
            for one in course.fires
        ],
        "runs": [_run(one, course) for one in course.runs],
        "longest_waits": [_run(one, course) for one in course.longest_waits],
        "skips": [
            {
                "job": names[one.job_id],
                "logical_at": _iso(one.logical_at),
                "code": one.code,
                "reason": one.reason,
                "count": one.count,
            }
            for one in course.skips
        ],
        "notes": [*present.notes, *_assumptions(course)],
    }


def _totals(course: Course) -> dict[str, Any]:
    return {
        "fires": int(course.total("fires")),
        "instances": int(course.total("instances")),
        "starts": int(course.total("starts")),
        "ends": int(course.total("ends")),
        "waits": int(course.total("waits")),
        "waited_seconds": round(course.total("waited_seconds"), 3),
        "skips": int(course.total("skipped")),
        "running_at_the_end": course.running,
        "waiting_at_the_end": len(course.waiting),
    }


def _core_use(course: Course) -> dict[str, Any]:
    return {
        "slots": course.slots,
        "mean": round(course.mean_slots, 3),
        "peak": course.peak,
        "peak_at": _iso(course.peak_at),
        "part_seconds": course.part_seconds,
        "parts": [
            {
                "at": _iso(part.begins),
                "mean": round(part.mean, 3),
                "max": part.most,
                "demanded": round(part.demanded, 3),
                "fires": part.fires,
            }
            for part in course.parts
        ],
    }


def _job(one: JobCourse) -> dict[str, Any]:
    return {
        "job": one.name,
        "cores": one.cores,
        "duration_seconds": one.seconds,
        "duration_from": one.duration_from.value,
        "fires": one.fires,
        "instances": one.instances,
        "starts": one.starts,
        "ends": one.ends,
        "waits": one.waits,
        "mean_wait_seconds": round(one.mean_wait_seconds, 3),
        "longest_wait_seconds": round(one.longest_wait_seconds, 3),
        "waits_by": dict(one.waits_by),
        "skips": dict(one.skips),
    }


def _run(one: SimulatedRun, course: Course) -> dict[str, Any]:
    job = course.jobs[one.job_id]
    return {
        "job": job.name,
        "job_id": one.job_id,
        "logical_at": _iso(one.logical_at),
        "queued_at": _iso(one.queued_at),
        "started_at": _iso(one.started_at),
        "ended_at": _iso(one.ended_at) if one.ended_at else None,
        "outcome": one.outcome or None,
        "slots": one.slots,
        "wait_seconds": round(one.wait_seconds, 3),
        "why": one.why,
        "duration_from": job.duration_from.value,
    }


def _assumptions(course: Course) -> list[str]:
    guessed = sum(one.duration_from.value == "guess" and one.starts > 0 for one in course.jobs.values())
    notes = ["Every run is assumed to succeed."]
    if guessed:
        what = "1 job" if guessed == 1 else f"{guessed:,} jobs"
        notes.append(f"Of {what} nothing tells how long they take: {course.guess_seconds:g} s are guessed.")
    return notes


def _comparison(found: Comparison, change: Change) -> dict[str, Any]:
    own_before = next((one for one in found.before.jobs.values() if one.name == change.name), None)
    own_after = next(one for one in found.after.jobs.values() if one.name == change.name)
    return {
        "job": {"before": _job(own_before) if own_before else None, "after": _job(own_after)},
        "waits_longer": [
            {
                "job": one.job,
                "longest_wait_seconds": {"before": round(one.longest_before, 3), "after": round(one.longest_after, 3)},
                "mean_wait_seconds": {"before": round(one.mean_before, 3), "after": round(one.mean_after, 3)},
                "longer_by_seconds": round(one.longest_after - one.longest_before, 3),
            }
            for one in found.waits_longer
        ],
        "newly_skipped": [{"job": one.job, "before": one.before, "after": one.after} for one in found.newly_skipped],
        "new_warnings": [_warning(one) for one in found.new_warnings],
        "gone_warnings": [_warning(one) for one in found.gone_warnings],
        "totals": {"before": _totals(found.before), "after": _totals(found.after)},
        "core_use": {"before": _core_use(found.before), "after": _core_use(found.after)},
    }


def _warning(one: Warned) -> Mapping[str, str]:
    return {"code": one.code, "job": one.job, "sentence": one.sentence}


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()
