"""The core manager: named physical cores, virtual slots above them, memory. Gives out and takes back, never leaks.

Slots = floor(cores x overcommit). Physical cores are given first, the rest of a demand in virtual slots; both kinds are
checked together, and both come back together, exactly once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from jobs.core.records import Allocation, Demand

NO_LOAD: Mapping[int, float] = {}


class CoreManager:
    """One node's cores and memory. `holder` is the instance that an allocation belongs to.

    `memory_mb` 0 means that the node's memory is unknown: then none is counted.
    """

    def __init__(self, cores: Iterable[int], *, overcommit: float = 1.5, memory_mb: int = 0) -> None:
        self.cores = tuple(sorted(set(cores)))
        if not self.cores:
            raise ValueError("a node without cores was given; at least one core id is expected")
        if overcommit < 1.0:
            raise ValueError(f"overcommit {overcommit} was given; 1.0 (a hard limit) or more is expected")
        self.virtual_total = math.floor(round(len(self.cores) * overcommit, 9)) - len(self.cores)
        self.memory_total_mb = memory_mb
        self._held: dict[int, Allocation] = {}
        # Counted as they change: a pass asks for them once per kind of needs.
        self._known = frozenset(self.cores)
        self._free = set(self.cores)
        self._holders: Counter[int] = Counter()  # by core: one from before a restart may share its own
        self._virtual_held = self._memory_held = 0

    @property
    def slots(self) -> int:
        return len(self.cores) + self.virtual_total

    @property
    def free_cores(self) -> tuple[int, ...]:
        return tuple(sorted(self._free))

    @property
    def free_virtual(self) -> int:
        return self.virtual_total - self._virtual_held

    @property
    def free_slots(self) -> int:
        return max(0, len(self._free) + self.free_virtual)

    @property
    def free_memory_mb(self) -> int:
        return self.memory_total_mb - self._memory_held

    def holds(self) -> Mapping[int, Allocation]:
        """Who holds what now, by holder."""
        return dict(self._held)

    def can_ever(self, demand: Demand) -> bool:
        """Whether the empty node could meet it. What no node can ever meet is refused at once, not queued for ever."""
        return demand.cores <= self.slots and (not self.memory_total_mb or demand.memory_mb <= self.memory_total_mb)

    def fits(self, demand: Demand) -> bool:
        return self.lacks(demand) == ""

    def lacks(self, demand: Demand) -> str:
        """What is missing for it now: "cores", "memory", or "" when it fits."""
        if demand.cores > self.free_slots:
            return "cores"
        # What runs from before the node became smaller may hold more than there is. Who needs none does not wait.
        if self.memory_total_mb and demand.memory_mb > max(0, self.free_memory_mb):
            return "memory"
        return ""

    def allocate(self, holder: int, demand: Demand, load: Mapping[int, float] = NO_LOAD) -> Allocation | None:
        """Give what is demanded, or None when it does not fit now. `load`: share of each core that is busy, 0 to 1."""
        if holder in self._held:
            raise ValueError(f"instance {holder} holds an allocation already; release it first")
        if not self.fits(demand):
            return None
        by_load = sorted(self._free, key=lambda core: (load.get(core, 0.0), core)) if load else sorted(self._free)
        physical = tuple(sorted(by_load[: demand.cores]))
        allocation = Allocation(physical, demand.cores - len(physical), demand.memory_mb)
        self._give(holder, allocation)
        return allocation

    def restore(self, holder: int, allocation: Allocation) -> None:
        """Note what a run from before a restart still holds, even where the node offers less by now."""
        self.release(holder)
        self._give(holder, allocation)

    def release(self, holder: int) -> bool:
        """Take everything back. False when it held nothing: a second release gives nothing twice."""
        allocation = self._held.pop(holder, None)
        if allocation is None:
            return False
        for core in allocation.cores:
            self._holders[core] -= 1
            if not self._holders[core] and core in self._known:
                self._free.add(core)
        self._virtual_held -= allocation.virtual
        self._memory_held -= allocation.memory_mb
        return True

    def _give(self, holder: int, allocation: Allocation) -> None:
        self._held[holder] = allocation
        for core in allocation.cores:
            self._holders[core] += 1
        self._free.difference_update(allocation.cores)
        self._virtual_held += allocation.virtual
        self._memory_held += allocation.memory_mb
