"""A week of a thousand schedules, minutely to daily, with too few cores at times: how much faster than real time.

    .venv/bin/python benchmarks/simulate.py [--rounds 3]

Fires are on the full minute, hour or day, as people write them, so they meet. Ratios by the wall clock, and by the CPU
time of this process, which other load on the machine leaves alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _bench import show

from jobs.core.course import Course
from jobs.core.expressions import parse_trigger
from jobs.core.inputs import ScheduleChanged
from jobs.core.present import Machine, Present
from jobs.core.records import Demand, Job
from jobs.core.simulate import simulate

NOW = datetime(2026, 1, 5, tzinfo=UTC)
WEEK_SECONDS = 7 * 24 * 3600
MACHINES = (Machine("bench", 64, 1.0),)

# type, expression with a place for minute and hour, usual seconds, cores; so many of a thousand schedules
KINDS = (
    (5, "cron", "* * * * *", (2, 20), (1, 1)),
    (20, "interval", "5m", (5, 60), (1, 2)),
    (25, "cron", "*/15 * * * *", (10, 120), (1, 2)),
    (150, "cron", "{minute} * * * *", (20, 300), (1, 2)),
    (100, "interval", "2h", (30, 600), (1, 4)),
    (300, "cron", "{minute} */6 * * *", (30, 900), (1, 4)),
    (400, "daily", "{hour:02}:00", (30, 1200), (1, 4)),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    present = thousand(Random(1))
    rows = []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        course = simulate(present, days=7)
        rows.append(row(course, time.perf_counter() - wall, time.process_time() - cpu))
    show("a week of a thousand schedules, simulated", rows)
    print(
        f"median: {median(r['x real time'] for r in rows):,.0f} x real time by the wall clock, "
        f"{median(r['x by CPU'] for r in rows):,.0f} x by CPU time; aim 100,000 x"
    )


def row(course: Course, wall: float, cpu: float) -> dict[str, float]:
    assert not course.cut
    starts = int(course.total("starts"))
    return {
        "fires": int(course.total("fires")),
        "starts": starts,
        "waits": int(course.total("waits")),
        "skips": int(course.total("skipped")),
        "mean slots": course.mean_slots,
        "peak slots": course.peak,
        "wall s": wall,
        "cpu s": cpu,
        "us per start": 1e6 * cpu / max(starts, 1),
        "x real time": round(WEEK_SECONDS / wall),
        "x by CPU": round(WEEK_SECONDS / cpu),
    }


def thousand(random: Random) -> Present:
    jobs, schedules = [], []
    for many, type_, expression, seconds, cores in KINDS:
        for _ in range(many):
            number = len(jobs) + 1
            said = expression.format(
                minute=random.choice((0, 0, 15, 30, random.randrange(60))), hour=random.choice((0, 1, 2, 2, 3, 6))
            )
            anchor = NOW - timedelta(seconds=random.randrange(7200) // 60 * 60)
            trigger = parse_trigger(
                type_, said, zone="Europe/Berlin", anchor=anchor, start=None, end=None, hash_id=str(number)
            )
            usual = float(random.randint(*seconds))
            jobs.append(Job(number, name=f"job {number}", demand=Demand(random.randint(*cores)), usual_seconds=usual))
            schedules.append(ScheduleChanged(number, number, trigger, NOW, zone="Europe/Berlin"))
    return Present(NOW, MACHINES, tuple(jobs), tuple(schedules))


if __name__ == "__main__":
    main()
