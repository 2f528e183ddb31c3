"""What one step of the pure engine costs while a million instances wait.

    .venv/bin/python benchmarks/core.py [--waiting 1000000]

Microseconds of CPU time for each: told and put into the heap or the ready set; taken when due and started; cancelled.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _bench import show

from jobs.core.cores import CoreManager
from jobs.core.engine import Engine
from jobs.core.inputs import Ended, InstanceGone, InstanceSeen, JobChanged
from jobs.core.order import ByPriority
from jobs.core.records import Instance, Job, Outcome
from jobs.core.states import OutcomeKind, Status

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROUNDS = 5_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--waiting", type=int, default=1_000_000)
    waiting = parser.parse_args().waiting
    tokens = count()
    engine = Engine(
        CoreManager(range(8), overcommit=1.0),
        order=ByPriority(),
        new_token=lambda: f"token-{next(tokens)}",
        uniform=lambda _low, high: high,
    )
    engine.step(NOW, [JobChanged(Job(1))])
    tracemalloc.start()
    filled = timed(lambda: engine.step(NOW, (InstanceSeen(pending(n)) for n in range(waiting))), waiting)
    held = tracemalloc.get_traced_memory()[0] / waiting
    tracemalloc.stop()
    submitted = timed(lambda: [engine.step(NOW, [InstanceSeen(pending(waiting + n))]) for n in range(ROUNDS)], ROUNDS)
    cancelled = timed(lambda: [engine.step(NOW, [InstanceGone(waiting + n)]) for n in range(ROUNDS)], ROUNDS)
    taken = timed(lambda: take(engine), ROUNDS)
    row = {"waiting": waiting, "fill us": filled, "submit us": submitted, "cancel us": cancelled, "take us": taken}
    show("engine steps", [{**row, "bytes per waiting": held}])


def pending(number: int) -> Instance:
    due = NOW + timedelta(seconds=1 + number)
    return Instance(number, 1, Status.PENDING, due, due)


def take(engine: Engine) -> None:
    """Each round: the next one comes due, is queued and started, and the one before it ends."""
    now = NOW
    running: list[tuple[int, str]] = []
    for _ in range(ROUNDS):
        now += timedelta(seconds=1)
        ended = [Ended(instance_id, token, Outcome(OutcomeKind.SUCCESS, now)) for instance_id, token in running]
        engine.step(now, ended)
        running = [(instance_id, run.token) for instance_id, run in engine.known.running.items()]


def timed(work: Callable[[], object], times: int) -> float:
    begin = time.process_time()
    work()
    return (time.process_time() - begin) / times * 1e6


if __name__ == "__main__":
    main()
