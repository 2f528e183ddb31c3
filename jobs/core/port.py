"""What the engine's surroundings must offer: the contract that the memory store and the ORM store both keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from jobs.core.decisions import Decision
from jobs.core.records import Instance


@dataclass(frozen=True, slots=True)
class Committed:
    """What became of the decisions.

    `refused_*`: ids whose guarded move found zero rows, because somebody else was first: an answer, not an error.
    Nothing is started of which a move was refused: the engine forgets it, and would not know that it runs.
    `born`: the instances that fires made, to be told to the engine as seen.
    """

    refused_instances: frozenset[int] = frozenset()
    refused_schedules: frozenset[int] = frozenset()
    born: tuple[Instance, ...] = ()


class Store(Protocol):
    def commit(self, decisions: Sequence[Decision], at: datetime) -> Committed:
        """Make the decisions durable, all or none, with one event each. Idempotent: a second commit is refused."""
        ...

    def set_aside(self, decision: Decision, fault: str, at: datetime) -> None:
        """Settle what a decision is about although the decision itself cannot be stored, so that it never comes again.

        What waits fails with the fault, an end is stored without its details, a schedule is flagged.
        """
        ...
