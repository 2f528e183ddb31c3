"""How long runs are kept, as a job and the site say, and what is said of a log that is kept no longer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings

from jobs.actions.reading import Reader
from jobs.core.retention import Ended, Keep
from jobs.execution import keeping
from jobs.models import Instance

KEEPING_FIELDS = ("keep_days", "keep_failed_days", "keep_instances")
MOST_DAYS = 36_500
MOST_INSTANCES = 2_147_483_647


def log_gone(instance: Instance, rundir: Path) -> str:
    """Of a run that has ended, why there is no log in this place; empty if there is one."""
    if instance.ended_at is None or rundir.exists():
        return ""
    run = Ended(instance.pk, instance.status, instance.ended_at)
    if on := keeping.read(settings.DATA_DIR).removed_on(run):
        return f"Its log was removed on {on:%Y-%m-%d} to make room (ROTA_KEEP_RUNS_MB)."
    return "Its output is not kept any more."


def keep_of_site() -> Keep:
    """As the settings say."""
    return Keep(settings.KEEP_DAYS, settings.KEEP_FAILED_DAYS, settings.KEEP_INSTANCES)


def read_keeping(reader: Reader) -> dict[str, Any]:
    """By the names of a JobSpec; None: as the site's settings say, 0 days: for ever."""
    return {
        "keep_days": reader.whole("keep_days", None, lowest=0, highest=MOST_DAYS),
        "keep_failed_days": reader.whole("keep_failed_days", None, lowest=0, highest=MOST_DAYS),
        "keep_instances": reader.whole("keep_instances", None, lowest=1, highest=MOST_INSTANCES),
    }
