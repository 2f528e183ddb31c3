"""What the engine's surroundings must offer: the contract that the memory store and the ORM store both keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from jobs.core.decisions import Decision


@dataclass(frozen=True, slots=True)
class Refusals:
    """Ids whose guarded move found zero rows: somebody else was first. An answer, not an error."""

    instances: frozenset[int] = frozenset()
    schedules: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.instances or self.schedules)


class Store(Protocol):
    def commit(self, decisions: Sequence[Decision], at: datetime) -> Refusals:
        """Make the decisions durable, all or none, with one event each. Idempotent: a second commit is refused."""
        ...
