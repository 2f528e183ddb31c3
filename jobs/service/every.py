"""Something that is done once per period, by the monotonic clock."""

from __future__ import annotations

import time


class Every:
    """Due at once, and then a period after each time that it was."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.next_at = 0.0

    def at_once(self) -> None:
        """Its time has come, whenever it would have."""
        self.next_at = 0.0

    def is_due(self) -> bool:
        """Whether its time has come; asking then begins the next period."""
        now = time.monotonic()
        if now < self.next_at:
            return False
        self.next_at = now + self._seconds
        return True
