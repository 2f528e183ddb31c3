"""Samples of this machine for the pages, taken only while somebody watches."""

from __future__ import annotations

import json
import time
from pathlib import Path

from django.conf import settings

from dashboard.live.loads import Loads, frame_of, sample_of
from jobs.telemetry.cores import CoreLoad
from jobs.telemetry.memory import memory_use
from jobs.telemetry.recent import STEP_SECONDS, RecentLoads, here

SAMPLED_EACH_SECONDS = 1.0
NODE_FILE = "node.json"
IDLE_BELOW, BUSY_FROM = 0.05, 0.25


class Sampler:
    """One per reader: a sample says what happened since that reader's last one."""

    def __init__(self, load: CoreLoad | None = None, recent: RecentLoads = here) -> None:
        self._load = load or CoreLoad()
        self._recent = recent
        self._sampled_at = float("-inf")

    def sample_into(self, loads: Loads) -> None:
        """Put load and band of each core there, and memory in use; nothing at the first look, which has no before."""
        now, sampled = time.monotonic(), self._load.sample()
        if now - self._sampled_at <= STEP_SECONDS:  # a mean over minutes says nothing of this step
            self._recent.note(sampled)
        self._sampled_at = now
        if sampled:
            cores = {core: (load, band(load)) for core, load in sampled.items()}
            loads.put(local_node(settings.DATA_DIR), cores, memory_use())


def first_load(recent: RecentLoads = here) -> str:
    """The frame that a page is drawn with: what is known already of the last five minutes."""
    past = recent.past()
    newest = {core: steps[-1] for core, steps in past.cores.items()}
    cores = {core: (load / 100, band(load / 100)) for core, load in newest.items() if load is not None}
    return frame_of(sample_of(local_node(settings.DATA_DIR), cores, memory_use()), past)


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
