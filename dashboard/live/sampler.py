"""Samples of this machine for the pages, taken only while somebody watches."""

from __future__ import annotations

import json
from pathlib import Path

from django.conf import settings

from dashboard.live.loads import Loads
from jobs.telemetry.cores import CoreLoad
from jobs.telemetry.memory import memory_use

SAMPLED_EACH_SECONDS = 1.0
NODE_FILE = "node.json"
IDLE_BELOW, BUSY_FROM = 0.05, 0.25


class Sampler:
    """One per reader: a sample says what happened since that reader's last one."""

    def __init__(self, load: CoreLoad | None = None) -> None:
        self._load = load or CoreLoad()

    def sample_into(self, loads: Loads) -> None:
        """Put load and band of each core there, and memory in use; nothing at the first look, which has no before."""
        cores = {core: (load, band(load)) for core, load in self._load.sample().items()}
        if cores:
            loads.put(local_node(settings.DATA_DIR), cores, memory_use())


def band(load: float) -> str:
    """idle, some or busy. A core that is reserved and idle is wasted; one that is busy and not reserved, foreign."""
    if load < IDLE_BELOW:
        return "idle"
    return "busy" if load >= BUSY_FROM else "some"


def local_node(data_dir: Path) -> str:
    """The UUID of the node whose data folder this is; empty while it has never started."""
    try:
        return str(json.loads((data_dir / NODE_FILE).read_text())["uuid"])
    except FileNotFoundError:
        return ""
