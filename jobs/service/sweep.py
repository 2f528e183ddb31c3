"""What is kept no longer goes: runs and events by age and number, run directories by size.

Rows go before directories: rows without a log are a loss, a log without rows is only space, which the next look at all
directories finds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

from jobs.core.retention import FOR_EVER, Ended, Keep
from jobs.execution import keeping, runfolders
from jobs.execution.foldertree import size_of
from jobs.store import pruning
from jobs.telemetry.memory import MEGABYTE

LOOKED_UP = 500  # directories whose rows are asked for at once


class Sweep:
    """Of one node, in one thread. `rest` is called between portions and may raise to end it there; nothing is lost."""

    def __init__(self, data_dir: Path, actor: str, site: Keep, runs_mb: int, rest: Callable[[], object]) -> None:
        """`runs_mb`: most that the run directories of ended runs may take; FOR_EVER: no bound."""
        self._data_dir = data_dir
        self._runs = data_dir / "runs"
        self._actor = actor
        self._site = site
        self._most_bytes = runs_mb * MEGABYTE
        self._rest = rest
        self._kept = keeping.read(data_dir)
        self._counted_until: datetime | None = None
        self._removed: Counter[str] = Counter()

    def prune_history(self, now: datetime) -> None:
        """Runs, with their directories here, and events. Raises django.db.DatabaseError."""
        longest = [self._site.longest_days]
        for job_id, keep in pruning.keeps(self._site):
            longest.append(keep.longest_days)
            for ids in pruning.gone_portions(job_id, keep, now):
                gone = pruning.remove_some(job_id, ids)
                self._removed["instances"] += len(gone)
                self._remove_directories(gone)
                self._rest()
        if FOR_EVER not in longest:
            while count := pruning.remove_some_events(now - timedelta(days=max(longest))):
                self._removed["events"] += count
                self._rest()

    def prune_now(self, now: datetime) -> Counter[str]:
        """Beside a service that may run: what it knows of its directories stays its own. Counts of what went."""
        self.prune_history(now)
        self._record_removed(now)
        return self._removed

    def look_at_all(self, now: datetime) -> None:
        """Measure all directories, and remove those of instances that exist no more and those in which nothing ran."""
        total, newest = 0, pruning.newest_id()
        for ids in _portions(runfolders.instances_in(self._runs)):
            ends = pruning.ends_of(ids)
            with runfolders.idle():
                for folder, ended_at in ((self._runs / str(one), ends.get(one)) for one in ids if one in ends):
                    if ended_at is not None and ended_at <= now:
                        self._removed["bytes"] += runfolders.clear_voids(folder)
                        total += size_of(str(folder))
                # Numbers that this database has not come to are another's: somebody has moved to a new one.
                self._remove_directories([one for one in ids if one not in ends and one < newest], fresh=False)
            self._rest()
        self._kept = replace(self._kept, runs_bytes=total)
        self._counted_until = now

    def make_room(self, now: datetime) -> None:
        """Remove directories until the rest fits, oldest first and of what succeeded first. The rows stay."""
        if self._counted_until is None:
            self.look_at_all(now)
        else:
            self._count_since(self._counted_until, now)
        for succeeded in (True, False):
            since = self._kept.made_room_until(succeeded=succeeded)
            for runs in pruning.ended_since(since, now, succeeded) if self._is_full() else ():
                last = self._remove_until_it_fits(runs)
                self._kept = self._kept.making_room(last, now)
                self._rest()
                if not self._is_full():
                    break

    def finish(self, now: datetime) -> None:
        """Write down what was done: for the page of the node, and, if anything was removed, as an event."""
        self._kept = replace(self._kept, node=self._actor, swept_at=now.isoformat())
        if removed := self._record_removed(now):
            self._kept = replace(self._kept, removed=removed, removed_at=now.isoformat())
        keeping.write(self._data_dir, self._kept)
        self._removed.clear()

    def _record_removed(self, now: datetime) -> dict[str, int]:
        """As an event, if it is anything."""
        removed = {name: count for name, count in self._removed.items() if count}
        if removed:
            pruning.record_sweep(self._actor, now, removed)
        return removed

    def _is_full(self) -> bool:
        return self._most_bytes != FOR_EVER and self._kept.runs_bytes > self._most_bytes

    def _count_since(self, since: datetime, now: datetime) -> None:
        for runs in pruning.ended_since(since, now):
            with runfolders.idle():
                more = sum(size_of(str(self._runs / str(run.id))) for run in runs)
            self._kept = replace(self._kept, runs_bytes=self._kept.runs_bytes + more)
            self._rest()
        self._counted_until = now

    def _remove_until_it_fits(self, runs: Sequence[Ended]) -> Ended:
        """The last one of these that was looked at."""
        here = [run.id for run in runs if (self._runs / str(run.id)).exists()]
        free = pruning.free_of(here)
        for run in runs:
            if run.id in free:
                self._remove_directories([run.id])
                if not self._is_full():
                    return run
        return runs[-1]

    def _remove_directories(self, ids: Iterable[int], *, fresh: bool = True) -> None:
        """Those that no runner holds; unless `fresh`, only those in which nothing has happened for a while."""
        freed = 0
        with runfolders.idle():
            for folder in (self._runs / str(one) for one in ids):
                if folder.exists() and not runfolders.is_held(folder) and (fresh or not runfolders.is_fresh(folder)):
                    freed += runfolders.remove(folder)
                    self._removed["directories"] += 1
        self._removed["bytes"] += freed
        self._kept = replace(self._kept, runs_bytes=max(0, self._kept.runs_bytes - freed))


def _portions(ids: Iterator[int]) -> Iterator[list[int]]:
    while portion := list(islice(ids, LOOKED_UP)):
        yield portion
