"""Why this node starts nothing: its disk is nearly full, or somebody drains it."""

from __future__ import annotations

from datetime import datetime

from jobs import models
from jobs.nodes import draining
from jobs.service import registration
from jobs.service.disk import DiskGuard


class Gate:
    """Of one engine's thread. `look_…` say whether `stopped` has changed by it."""

    def __init__(self, node: models.Node, disk: DiskGuard) -> None:
        self._node = node
        self._disk = disk
        self._full = ""
        self._draining = ""

    @property
    def stopped(self) -> str:
        """The sentence that says why not; empty when it may start."""
        return self._full or self._draining

    def look_at_disk(self, now: datetime) -> bool:
        """Believed only once it is written: on a full disk that may fail."""
        before, full = self.stopped, self._disk.look(self._full)
        if full != self._full:
            registration.stop_admission(self._node, full, now)
            self._full = full
        return self.stopped != before

    def look_at_wish(self) -> bool:
        """Read from the node's row, so that it holds across restarts."""
        before = self.stopped
        self._draining = draining(models.Node.objects.only("name", "drained_at", "drained_by").get(pk=self._node.pk))
        return self.stopped != before
