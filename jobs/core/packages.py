"""What a job's Python has to have beside the standard library, and by which name what was made of that is found.

Which versions these texts allow is not looked at here: to the core an environment is a key, and whether it is there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime

from jobs.core.records import Hold


@dataclass(frozen=True, slots=True)
class PackagesNeeded:
    """`python`: versions that will do, as in ">=3.11,<3.13"; empty: any. `requirements`: as pip has them."""

    python: str = ""
    requirements: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.python or self.requirements)

    @property
    def key(self) -> str:
        """The same for all that need the same, in whatever order they say it; empty for the service's own Python."""
        if not self:
            return ""
        content = json.dumps([self.python, sorted(set(self.requirements))]).encode()
        return hashlib.sha256(content).hexdigest()[:32]


def key_read_there(job_id: int, revision: int) -> str:
    """Stands for the needs of a job whose script says them itself."""
    return f"job:{job_id}:{revision}"


class Preparations:
    """Which environments may be used on this node now: each was asked for because somebody waits for it.

    `node`: its name, for those who wonder why.
    """

    def __init__(self, node: str = "") -> None:
        self._node = node
        self._since: dict[str, datetime] = {}
        self._settled = {""}

    def is_settled(self, key: str) -> bool:
        """Whether it is there, or it is known that it cannot be."""
        return key in self._settled

    def ask(self, key: str, now: datetime) -> bool:
        """Whether it has to be asked for: that was not done yet."""
        if key in self._since:
            return False
        self._since[key] = now
        return True

    def hold(self, key: str) -> Hold:
        """Of what waits for it."""
        return Hold("environment", {"key": key, "node": self._node, "since": self._since[key].isoformat()})

    def settle(self, key: str) -> None:
        """What nobody waits for any more stays forgotten."""
        if key in self._since:
            self._settled.add(key)

    def any_asked(self) -> bool:
        """Whether any was asked for that is not forgotten."""
        return bool(self._since)

    def take_unneeded(self, waiting: Container[str]) -> list[str]:
        """Forget those that are not among the `waiting`, which somebody waits for: their keys."""
        over = [key for key in self._since if key not in waiting]
        for key in over:
            del self._since[key]
            self._settled.discard(key)
        return over
