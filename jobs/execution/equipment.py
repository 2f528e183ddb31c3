"""What a node has for jobs with packages, as it tells all others: its Pythons, and the environments on its disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from jobs.execution import pythons
from jobs.execution.installed import EnvironmentFolder, Installed

MOST_TOLD = 100  # environments, those used last
LONGEST_PACKAGES = 300  # characters


@dataclass(frozen=True, slots=True)
class EnvironmentThere:
    """`python`: its version. `packages` in words. `used_at`: last, in seconds since the epoch as `built_at`."""

    key: str
    python: str
    packages: str
    size_bytes: int
    built_at: float
    used_at: float
    in_use: bool


@dataclass(frozen=True, slots=True)
class Equipment:
    """`pythons`: versions, the service's own first; empty until it has looked. `told_at`: None if it never has."""

    pythons: tuple[str, ...] = ()
    environments: tuple[EnvironmentThere, ...] = ()
    told_at: datetime | None = None

    def to_json(self, now: datetime) -> dict[str, Any]:
        return {
            "told_at": now.isoformat(),
            "pythons": [*self.pythons],
            "environments": [asdict(one) for one in self.environments],
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Equipment:
        """Of what `to_json` gave, also that of a later release, which may tell more; of an empty one, nothing."""
        if not told:
            return cls()
        there = tuple(
            EnvironmentThere(*(one[name] for name in EnvironmentThere.__slots__)) for one in told["environments"]
        )
        return cls(tuple(told["pythons"]), there, datetime.fromisoformat(told["told_at"]))


def look(folder: EnvironmentFolder) -> Equipment:
    """Reads files of all environments."""
    last_first = sorted(folder.all(), key=lambda one: one.used_at, reverse=True)
    there = tuple(map(_environment, last_first[:MOST_TOLD]))
    return Equipment(tuple(one.version for one in pythons.read(folder.pythons)), there)


def _environment(one: Installed) -> EnvironmentThere:
    facts = one.facts
    packages = ", ".join(facts.requirements) or "no packages"
    if len(packages) > LONGEST_PACKAGES:
        packages = f"{packages[: LONGEST_PACKAGES - 3]}..."
    return EnvironmentThere(one.key, facts.version, packages, facts.size_bytes, facts.built_at, one.used_at, one.in_use)
