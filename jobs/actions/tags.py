"""One tag more or less of a job, whatever other tags it has: what a wish for many jobs needs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from django.db import transaction

from jobs.actions.answers import Changed, InvalidInput, NotFound, Problem
from jobs.actions.jobs import change_job
from jobs.actions.reading import fault_of, shown
from jobs.actions.submission import LONGEST_TAG
from jobs.models import Job
from jobs.store import definitions, workflows


def check_tag(tag: str) -> None:
    """Raises InvalidInput for what can be no tag of any job."""
    if 0 < len(tag.strip()) <= LONGEST_TAG and not fault_of(tag) and "," not in tag:
        return
    expected = f"1 to {LONGEST_TAG} printable characters without a comma"
    raise InvalidInput([Problem("tag", shown(tag), expected, f"A tag has {expected}; this is {shown(tag)}.")])


def add_tag(job_id: int, tag: str, *, actor: str, now: datetime) -> Changed:
    """Raises InvalidInput for what is no tag or one too many, NotFound."""
    return _retag(job_id, lambda tags: [*tags, tag] if tag not in tags else tags, actor, now)


def remove_tag(job_id: int, tag: str, *, actor: str, now: datetime) -> Changed:
    """A job without it is left as it is. Raises NotFound."""
    return _retag(job_id, lambda tags: [one for one in tags if one != tag], actor, now)


@transaction.atomic
def _retag(job_id: int, wish: Callable[[list[str]], list[str]], actor: str, now: datetime) -> Changed:
    # Locked, so that of two who add a tag at once neither loses the other's; workflows first, as an edit does.
    workflows.lock()
    try:
        job, _ = definitions.lock(job_id)
    except Job.DoesNotExist:
        raise NotFound("job", job_id) from None
    wanted = wish(job.tags)
    return Changed(job_id, ()) if wanted == job.tags else change_job(job_id, {"tags": wanted}, actor=actor, now=now)
