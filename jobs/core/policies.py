"""What may be chosen for a schedule and for a job's place among others: the words, and what stands without a choice."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jobs.core.catchup import MISFIRE_GRACE, MOST_CAUGHT_UP, CatchUp


class Overlap(StrEnum):
    """What a fire does while an instance of the same job has not ended."""

    SKIP = "skip"
    QUEUE = "queue"
    ALLOW = "allow"
    REPLACE = "replace"


class UpstreamRule(StrEnum):
    """When a job with upstreams may run, and what makes it end without running."""

    ALL_SUCCESS = "all_success"
    ALL_DONE = "all_done"
    ANY_FAILED = "any_failed"


@dataclass(frozen=True, slots=True)
class FirePolicy:
    """How a schedule's fires become instances.

    A fire more than `misfire_grace_seconds` late counts as missed. `queue_bound`: how many instances may wait behind
    one that has not ended. `jitter_seconds`: each is due up to this long after its logical date.
    """

    catch_up: CatchUp = CatchUp.ONE
    catch_up_limit: int = MOST_CAUGHT_UP
    misfire_grace_seconds: float = MISFIRE_GRACE.total_seconds()
    overlap: Overlap = Overlap.SKIP
    queue_bound: int = 10
    jitter_seconds: float = 0.0

    @property
    def serial(self) -> bool:
        """Whether the instances of the schedule run one after another."""
        return self.overlap is not Overlap.ALLOW


DEFAULT_POLICY = FirePolicy()
