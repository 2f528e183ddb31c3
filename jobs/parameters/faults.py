"""What is wrong with parameters, each fault in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """`name` of the parameter, empty where none is at fault alone; `given` is cut short, masked if it may be secret."""

    name: str
    given: str
    expected: str
    sentence: str


class InvalidParameters(ValueError):
    """Parameters or values that are refused; `faults` has everything that is wrong, not only the first."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__(" ".join(fault.sentence for fault in faults))
        self.faults = tuple(faults)
