"""When the timing wheel is worth taking instead of the heap.

    .venv/bin/python benchmarks/timetable.py [--sizes 10000 100000 1000000] [--rounds 3]

Both do the same, side by side, and the order in which they take their turns changes with each round. Microseconds of
processor time per timer, the median of the rounds; `wheel wins` is the heap's time divided by the wheel's.

  set       into an empty one, due at random within an hour
  cancel    all of them, at random: a time limit that was not reached
  set over  a timer that is pushed back again and again: a heartbeat, or a lease that is renewed
  take      handed out second by second, as an engine does that sleeps until `next_moment`

`set, cancel` and `set, take` are the two lives of a timer. `wakes` is how often the sleeper was woken, per timer.

Seen with CPython 3.11: to set costs the wheel 1.4 to 2.2 times as much, as a push onto a heap is one call into C. It
has that back with the cancel (nothing dead is left to be buried): set and cancel together are 1.2 to 1.4 times cheaper
up to 100,000 timers, and the same at a million. Set and take together are 1.5 times cheaper at 50,000 in an hour, twice
at a million, and 1.5 times dearer at 10,000. So the wheel is for tens of thousands an hour and more; the heap for less.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _bench import show

from jobs.core.timetable import Timetable
from jobs.core.wheel import Wheel

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = 3600.0

Kind = Callable[[], "Timetable[int] | Wheel[int]"]
KINDS: dict[str, Kind] = {"heap": Timetable, "wheel": Wheel}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    rows = [row for size in asked.sizes for row in compared(size, asked.rounds)]
    show("heap and wheel", rows)


def compared(size: int, rounds: int) -> list[dict[str, object]]:
    seen: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    for number in range(rounds):
        for kind in sorted(KINDS, reverse=bool(number % 2)):
            seen[kind].append(measured(KINDS[kind], size, random.Random(number)))
    middle = {kind: {what: median(one[what] for one in seen[kind]) for what in seen[kind][0]} for kind in KINDS}
    return [
        {
            "timers": size,
            "what": what,
            "heap": middle["heap"][what],
            "wheel": middle["wheel"][what],
            "wheel wins": middle["heap"][what] / middle["wheel"][what],
        }
        for what in middle["heap"]
    ]


def measured(make: Kind, size: int, rng: random.Random) -> dict[str, float]:
    moments = [NOW + timedelta(seconds=rng.uniform(1, HOUR)) for _ in range(size)]
    shuffled = rng.sample(range(size), size)
    timetable = make()
    list(timetable.take_due(NOW))
    result = {"set us": timed(lambda: set_all(timetable, moments), size)}
    result["cancel us"] = timed(lambda: cancel_all(timetable, shuffled), size)
    # Few keys, each of them set many times: the heap must bury the dead, the wheel has none.
    result["set over us"] = timed(lambda: set_over(timetable, moments, max(size // 10, 1)), size)
    timetable = make()
    list(timetable.take_due(NOW))
    set_all(timetable, moments)
    wakes: list[int] = []
    result["take us"] = timed(lambda: wakes.append(sleep_through(timetable, size)), size)
    result["set, cancel us"] = result["set us"] + result["cancel us"]
    result["set, take us"] = result["set us"] + result["take us"]
    result["wakes"] = wakes[0] / size
    return result


def set_all(timetable: Timetable[int] | Wheel[int], moments: list[datetime]) -> None:
    for key, moment in enumerate(moments):
        timetable.set(key, moment)


def cancel_all(timetable: Timetable[int] | Wheel[int], keys: list[int]) -> None:
    for key in keys:
        timetable.cancel(key)


def set_over(timetable: Timetable[int] | Wheel[int], moments: list[datetime], keys: int) -> None:
    for number, moment in enumerate(moments):
        timetable.set(number % keys, moment)


def sleep_through(timetable: Timetable[int] | Wheel[int], size: int) -> int:
    """Wake at each named moment, at most once a second, until all have come out. How often that was."""
    now, taken, wakes = NOW, 0, 0
    while (moment := timetable.next_moment()) is not None:
        now = max(moment, now + timedelta(seconds=1))
        wakes += 1
        for _ in timetable.take_due(now):
            taken += 1
    assert taken == size, f"{size - taken} timers never came out"
    return wakes


def timed(work: Callable[[], object], times: int) -> float:
    """Microseconds each. The collector is off, as its work depends on how much else is alive."""
    gc.collect()
    gc.disable()
    try:
        begin = time.thread_time()
        work()
        return (time.thread_time() - begin) / times * 1e6
    finally:
        gc.enable()


if __name__ == "__main__":
    main()
