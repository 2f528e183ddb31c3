"""Why a schedule skips again and again, from what its job is doing at this moment."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from jobs import holds, skips
from jobs.core.states import LIVE, WAITING
from jobs.models import LARGE_OF_JOB, Instance

BUSY = "it was still busy when its next fire came. Let it run less often, or find out why it takes so long."


def why_skipped(job_ids: Collection[int], now: datetime) -> dict[int, str]:
    """By job, the end of a sentence that begins "Skipped 3 times in a row". No query where there is no job."""
    if not job_ids:
        return {}
    lately = skips.latest(job_ids)
    found = {pk: _noted(lately.get(pk)) for pk in job_ids}
    live = _oldest_live(job_ids)
    waiting = [one for one in live.values() if one.status in WAITING]
    views = holds.explain(waiting, now) if waiting else {}
    for job_id, one in live.items():
        if _is_overlap(lately.get(job_id)):
            found[job_id] = _waits(one, views[one.pk].sentence) if one.pk in views else BUSY
    return found


def _oldest_live(job_ids: Collection[int]) -> dict[int, Instance]:
    rows = Instance.objects.filter(job__in=job_ids, status__in=LIVE).select_related("job")
    found: dict[int, Instance] = {}
    for one in rows.defer(*LARGE_OF_JOB).order_by("pk"):
        # What runs is what keeps the others from it.
        if one.job_id not in found or (one.status not in WAITING and found[one.job_id].status in WAITING):
            found[one.job_id] = one
    return found


def _is_overlap(skip: skips.SkippedFire | None) -> bool:
    return skip is None or skip.code == "overlap"


def _noted(skip: skips.SkippedFire | None) -> str:
    if skip is None or skip.code == "overlap":
        return "an instance of it had not ended each time when its next fire came."
    return f"{skip.reason.rstrip('.')}."


def _waits(one: Instance, why: str) -> str:
    return f"its instance #{one.pk} before was still waiting: {why.rstrip('.')}."
