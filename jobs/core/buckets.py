"""Token buckets: at most so many starts a second on average, and so many at once after a pause.

Only what is left and when it was counted is kept; what has come in since is computed when somebody asks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.core.values import made_often

# One in a year. Below that the moment of the next token soon lies beyond what a datetime can say.
LEAST_RATE = 1 / (366 * 86_400)
GREATEST_RATE = 100_000
GREATEST_BURST = 1_000_000

# A clock set back by less counts as a pause; by more, the old mark was the mistake, and waiting for it would stop
# everything for days.
LONGEST_STEP_BACK = timedelta(hours=3)

MICROSECOND = timedelta(microseconds=1)


class InvalidBucket(ValueError):
    """A rate or burst that cannot be used."""

    def __init__(self, name: str, given: float, expected: str) -> None:
        super().__init__(f"{name} is {given}, but must be {expected}")


@made_often
@dataclass(frozen=True, slots=True)
class Tokens:
    """What is left in a bucket: `count` tokens (0 to burst, parts too) at the moment `at`."""

    count: float
    at: datetime


@dataclass(frozen=True, slots=True)
class Bucket:
    """`rate_per_second` tokens come in, up to `burst` of them are kept. Raises InvalidBucket."""

    rate_per_second: float
    burst: float = 1.0

    def __post_init__(self) -> None:
        if not LEAST_RATE <= self.rate_per_second <= GREATEST_RATE:
            raise InvalidBucket("rate_per_second", self.rate_per_second, "from one in a year to 100,000 a second")
        if not 1 <= self.burst <= GREATEST_BURST:
            raise InvalidBucket("burst", self.burst, "from 1 (with less nothing could ever start) to a million")

    def full(self, now: datetime) -> Tokens:
        """How a bucket begins."""
        return Tokens(self.burst, now)

    def count(self, tokens: Tokens, now: datetime) -> float:
        """How many there are now."""
        return self._filled(_mark(tokens, now), now).count

    def take(self, tokens: Tokens, now: datetime) -> Tokens | datetime:
        """What is left after one is taken; or, if there is none, the moment at which there will be one."""
        mark = _mark(tokens, now)
        here = self._filled(mark, now)
        if here.count >= 1:
            return Tokens(here.count - 1, here.at)
        moment = self._moment_of(1, mark)
        while self._filled(mark, moment).count < 1:  # a sum of floats may miss it by a hair
            moment += MICROSECOND
        return moment

    def ready_at(self, tokens: Tokens, now: datetime, ahead: int = 0) -> datetime:
        """When there will be one for who has `ahead` others before it, each of whom takes one as soon as it can."""
        here = self._filled(_mark(tokens, now), now)
        return now if here.count >= ahead + 1 else self._moment_of(ahead + 1, here)

    def _filled(self, mark: Tokens, now: datetime) -> Tokens:
        """With what came in since the mark. Where the clock went back nothing did, so that no time counts twice."""
        seconds = max((now - mark.at).total_seconds(), 0.0)
        return Tokens(min(mark.count + seconds * self.rate_per_second, self.burst), max(mark.at, now))

    def _moment_of(self, wanted: int, here: Tokens) -> datetime:
        """When the count would be `wanted`; rounded up, as who wakes a microsecond early finds nothing."""
        seconds = (wanted - here.count) / self.rate_per_second
        return here.at + timedelta(microseconds=math.ceil(seconds * 1e6))


def _mark(tokens: Tokens, now: datetime) -> Tokens:
    return Tokens(tokens.count, now) if now < tokens.at - LONGEST_STEP_BACK else tokens
