"""Limits beside cores: how many may run at once per job, tag or execution model, and how often per second."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from jobs.core.buckets import Bucket, Tokens
from jobs.core.records import Hold
from jobs.core.values import made_often


def job_key(job_id: int) -> str:
    return f"job:{job_id}"


def tag_key(tag: str) -> str:
    return f"tag:{tag}"


def model_key(execution_model: str) -> str:
    return f"model:{execution_model}"


@made_often
@dataclass(frozen=True, slots=True)
class Rate:
    """A named token bucket and what is in it; None: nobody has taken of it, so it is full."""

    bucket: Bucket
    tokens: Tokens | None = None

    def ready_at(self, now: datetime) -> datetime:
        """When one more may start."""
        return now if self.tokens is None else self.bucket.ready_at(self.tokens, now)

    def left(self, now: datetime) -> float:
        """Tokens that are there."""
        return self.bucket.burst if self.tokens is None else self.bucket.count(self.tokens, now)

    def less_one(self, now: datetime) -> Rate:
        """After a start; as it is where there was nothing to take, which `ready_at` tells before."""
        left = self.bucket.take(self.tokens or self.bucket.full(now), now)
        return Rate(self.bucket, left) if isinstance(left, Tokens) else self


class Limits:
    """Counts who holds a place of which limit. A key without a maximum holds nobody back."""

    def __init__(self) -> None:
        self._maxima: dict[str, int] = {}
        self._of_jobs: dict[str, int] = {}
        self._rates: dict[str, Rate] = {}
        self._held: dict[int, tuple[str, ...]] = {}
        self._in_use: Counter[str] = Counter()

    def set(self, maxima: Mapping[str, int], rates: Mapping[str, Rate]) -> None:
        """What the limits are from now on; places that are held stay held."""
        self._maxima = {**maxima, **self._of_jobs}
        self._rates = dict(rates)

    def set_job(self, job_id: int, maximum: int | None) -> None:
        """How many of one job may run at once; None: as many as there is room for."""
        key = job_key(job_id)
        for maxima in (self._maxima, self._of_jobs):
            if maximum is None:
                maxima.pop(key, None)
            else:
                maxima[key] = maximum

    @property
    def rates(self) -> Mapping[str, Rate]:
        """The buckets by name, with what is in them."""
        return self._rates

    def that_bind(self, keys: Iterable[str], rates: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Those of the keys and rates that a limit exists for."""
        return tuple(filter(self._maxima.__contains__, keys)), tuple(filter(self._rates.__contains__, rates))

    def hold(self, holder: int, keys: Iterable[str]) -> None:
        """It runs, here or on another node."""
        self.release(holder)
        self._held[holder] = held = tuple(keys)
        for key in held:
            self._in_use[key] += 1

    def release(self, holder: int) -> None:
        for key in self._held.pop(holder, ()):
            self._in_use[key] -= 1

    def holders(self, key: str) -> list[int]:
        """Who holds a place of it."""
        return [holder for holder, keys in self._held.items() if key in keys]

    def lacks(self, keys: Iterable[str], rates: Iterable[str], now: datetime) -> tuple[Hold, datetime | None] | None:
        """Why one more may not start now, and when to look again if time alone will tell; None when it may."""
        full = [key for key in keys if self._in_use[key] >= self._maxima.get(key, math.inf)]
        if full:
            # One that lets none run is the reason: a place in another would not help.
            key = next((key for key in full if not self._maxima[key]), full[0])
            return Hold("limit", {"limit": key, "maximum": self._maxima[key], "in_use": self._in_use[key]}), None
        for name in rates:
            at = self._rates[name].ready_at(now) if name in self._rates else now
            if at > now:
                return Hold("rate", {"limit": name, "at": at.isoformat()}), at
        return None

    def take(self, holder: int, keys: Iterable[str], rates: Iterable[str], now: datetime) -> None:
        """It starts now, which `lacks` found possible."""
        self.hold(holder, keys)
        for name in rates:
            if name in self._rates:
                self._rates[name] = self._rates[name].less_one(now)
