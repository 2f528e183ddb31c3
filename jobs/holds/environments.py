"""Why one waits for its packages: they are being installed, as the engine noted when it asked for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from jobs import models
from jobs.core.packages import key_read_there
from jobs.holds.phrases import clock
from jobs.holds.view import HoldView
from jobs.packages import needed


@dataclass(frozen=True, slots=True)
class Installing:
    """An environment that is being made on `node`. `waiting`: how many of the queue wait for it."""

    node: str
    since: datetime
    waiting: int


def installing(queue: Sequence[models.Instance], nodes: Collection[str]) -> dict[int, Installing]:
    """By instance, for those of the queue that wait for one. The engine notes a reason for the first of each kind of
    needs only, and does not take it back: so the first in order who needs an environment tells of it, or nobody.
    """
    told: dict[str, dict[str, object]] = {}
    seen: set[str] = set()
    names = {row.pk: _names(row.job) for row in queue}
    for row in queue:
        subject = row.hold_subject if row.hold_code == "environment" else {}
        if (key := subject.get("key")) in names[row.pk] - seen and subject.get("node") in nodes:
            told[key] = subject
        seen |= names[row.pk]
    waits = {pk: key for pk, of_job in names.items() for key in of_job if key in told}
    counts = Counter(waits.values())
    return {
        pk: Installing(str(told[key]["node"]), datetime.fromisoformat(str(told[key]["since"])), counts[key])
        for pk, key in waits.items()
    }


def being_installed(being: Installing, now: datetime) -> HoldView:
    others = being.waiting - 1
    also = f"; {others} {'others wait' if others > 1 else 'other waits'} for the same" if others else ""
    sentence = f"its packages are being installed on node {being.node} since {clock(being.since, now)}{also}"
    return HoldView("environment", sentence, None, "nobody knows how long the installation takes")


def _names(job: models.Job) -> set[str]:
    """Those by which an engine may have asked for the job's environment: whether its script says more is not known."""
    return {needed(job.python_version, job.requirements).key, key_read_there(job.pk, job.revision)} - {""}
