"""Which jobs wait for which: the shape of workflows, without dates and states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

Neighbours = Callable[[int], Iterable[int]]


class Graph:
    """Jobs by id and their upstreams. Never holds a cycle: what would make one is refused when it is saved."""

    def __init__(self) -> None:
        self._upstreams: dict[int, tuple[int, ...]] = {}
        self._dependents: defaultdict[int, set[int]] = defaultdict(set)

    def put(self, job_id: int, upstreams: Iterable[int]) -> None:
        """`job_id` waits for these from now on, and for no others."""
        wanted = tuple(sorted(set(upstreams)))
        for gone in set(self._upstreams.get(job_id, ())) - set(wanted):
            self._dependents[gone].discard(job_id)
        for upstream in wanted:
            self._dependents[upstream].add(job_id)
        if wanted:
            self._upstreams[job_id] = wanted
        else:
            self._upstreams.pop(job_id, None)

    def drop(self, job_id: int) -> None:
        self.put(job_id, ())

    def __contains__(self, job_id: int) -> bool:
        """Whether the job is part of a workflow."""
        return job_id in self._upstreams or bool(self._dependents.get(job_id))

    def upstreams(self, job_id: int) -> tuple[int, ...]:
        return self._upstreams.get(job_id, ())

    def dependents(self, job_id: int) -> list[int]:
        return sorted(self._dependents.get(job_id, ()))

    def below(self, job_id: int) -> list[int]:
        """Everything that waits for it, directly or not, each after all of its own upstreams among them."""
        return in_order(self._reach(job_id, self.dependents), self.upstreams)

    def component(self, job_id: int) -> frozenset[int]:
        """The whole workflow that the job is part of, itself included."""
        return frozenset(self._reach(job_id, lambda at: [*self.dependents(at), *self.upstreams(at)]) | {job_id})

    @staticmethod
    def _reach(job_id: int, neighbours: Neighbours) -> set[int]:
        found: set[int] = set()
        ahead = [job_id]
        while ahead:
            new = [other for other in neighbours(ahead.pop()) if other not in found]
            found.update(new)
            ahead.extend(new)
        return found


def in_order(job_ids: Iterable[int], upstreams: Neighbours) -> list[int]:
    """Upstreams before what waits for them; ties by id. `job_ids` must not hold a cycle."""
    left = set(job_ids)
    ordered: list[int] = []
    while left:
        free = sorted(job_id for job_id in left if left.isdisjoint(upstreams(job_id)))
        if not free:
            raise ValueError(f"jobs {sorted(left)} wait for each other in a circle")
        ordered += free
        left.difference_update(free)
    return ordered


def find_cycle(upstreams: Mapping[int, Iterable[int]], job_id: int) -> list[int]:
    """The way from the job along its upstreams back to itself, such as [1, 2, 1]; empty when there is none."""
    came_from: dict[int, int] = {}
    ahead = [job_id]
    while ahead:
        at = ahead.pop()
        for upstream in sorted(upstreams.get(at, ())):
            if upstream == job_id:
                way = [job_id, at]
                while way[-1] != job_id:
                    way.append(came_from[way[-1]])
                return way[::-1]
            if upstream not in came_from:
                came_from[upstream] = at
                ahead.append(upstream)
    return []
