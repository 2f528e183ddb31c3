"""Fair shares for tenants by start tags: whoever had less of the service, in proportion to its weight, is sooner.

Start-time fair queueing (Goyal, Vin and Cheng, 1996; with many in service at once it is SFQ(D) of Jin, Chase and Kaur,
2004). Each instance is worth UNIT / weight of virtual time. Its start tag is the virtual time at which it is queued, or
the end of its tenant's one before it, if that is later; virtual time is the greatest tag that has started. So while two
tenants have somebody waiting, what they got differs by at most one instance each, weighted; and a tenant that asked for
nothing has saved up nothing.

Tags begin at the microseconds since 1970 of the first instance (below 2**51) and rise by at most UNIT / LEAST_WEIGHT =
10 million for each one. A signed 64-bit column holds 900 billion of the lightest tenant: 29 years at a thousand starts
a second; at weight 1, 2,900 years.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

# Virtual time that one instance of weight 1 is worth: enough that rounding at the greatest weight stays below 0.1 %.
UNIT = 100_000
LEAST_WEIGHT = 0.01
GREATEST_WEIGHT = 100.0


class InvalidWeight(ValueError):
    """A tenant's weight that cannot be used."""

    def __init__(self, tenant: str, weight: float) -> None:
        super().__init__(
            f"the weight of tenant {tenant!r} is {weight}, but must be a number from {LEAST_WEIGHT:g} to "
            f"{GREATEST_WEIGHT:g}; 1 is the weight of those that are not named"
        )


class StartTags:
    """The next start tag of each tenant. Not thread-safe. Raises InvalidWeight."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        for tenant, weight in weights.items():
            if not (math.isfinite(weight) and LEAST_WEIGHT <= weight <= GREATEST_WEIGHT):
                raise InvalidWeight(tenant, weight)
        self._costs = {tenant: round(UNIT / weight) for tenant, weight in weights.items()}
        self._virtual: int | None = None
        self._finish: dict[str, int] = {}
        self._dropped: dict[str, set[int]] = {}
        self._heads: dict[str, int] = {}
        self._placed_any = False

    def place(self, tenant: str, origin: int) -> int:
        """The tag of one more instance of `tenant`. `origin`: where virtual time begins if nothing is known yet."""
        virtual = self._virtual_time(origin)
        tag = max(virtual, self._finish.get(tenant, virtual))
        self._finish[tenant] = tag + self._cost(tenant)
        if tag == virtual:
            self._dropped.pop(tenant, None)
        else:
            self._dropped.get(tenant, set()).discard(tag)
        return tag

    def seen(self, key: int, tenant: str) -> None:
        """An instance that has its place already; in any order, twice is as once.

        At a restart the least and the greatest key of each tenant tell all that there is to know.
        """
        self._finish[tenant] = max(self._finish.get(tenant, key), key + self._cost(tenant))
        if not self._placed_any:
            self._heads[tenant] = min(self._heads.get(tenant, key), key)

    def started(self, key: int, tenant: str) -> None:
        """Virtual time moves on, and never back: a retry comes with the tag of long ago.

        One that was placed elsewhere counts as its tenant's too: the next one comes after it.
        """
        self._virtual = key if self._virtual is None else max(self._virtual, key)
        self._finish[tenant] = max(self._finish.get(tenant, key), key + self._cost(tenant))

    def dropped(self, key: int, tenant: str) -> None:
        """It left the queue without ever having started: its tenant's next one takes its place, if it was the last.

        Otherwise a tenant that cancels a thousand and submits them anew would wait for two thousand.
        """
        if tenant not in self._finish:
            return
        dropped = self._dropped.setdefault(tenant, set())
        dropped.add(key)
        while (last := self._finish[tenant] - self._cost(tenant)) in dropped:
            dropped.remove(last)
            self._finish[tenant] = last
        self._prune(dropped)

    def _prune(self, dropped: set[int]) -> None:
        """Forget tags that virtual time has passed, as they are never given again; at doublings only, so it is O(1)."""
        size = len(dropped)
        if self._virtual is not None and size & (size - 1) == 0:
            dropped.difference_update([tag for tag in dropped if tag < self._virtual])

    def _cost(self, tenant: str) -> int:
        return self._costs.get(tenant, UNIT)

    def _virtual_time(self, origin: int) -> int:
        """The first time after a restart it is found again from the first in line of each tenant.

        Such a one is never more than its own cost ahead of virtual time. One that is far behind (held by a limit, or a
        retry) says little, so the greatest answer counts.
        """
        known = [head - self._cost(tenant) for tenant, head in self._heads.items()]
        if self._virtual is not None:
            known.append(self._virtual)
        self._virtual = max(known, default=origin)
        self._placed_any = True
        self._heads.clear()
        return self._virtual
