"""What an instance with upstreams waits for, on its logical date."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from jobs import models
from jobs.core.graph import Graph
from jobs.core.policies import UpstreamRule
from jobs.core.prediction import expected_end
from jobs.core.records import Job
from jobs.core.states import TERMINAL, Status
from jobs.holds.phrases import clock
from jobs.holds.view import HoldView
from jobs.store import read

MOST_NAMED = 3


def explain_upstreams(instances: Iterable[models.Instance], now: datetime) -> dict[int, HoldView]:
    """A view for each pending one whose upstreams are not done; the others wait for something else. Three queries."""
    pending = [instance for instance in instances if instance.status == Status.PENDING]
    graph = read.workflows() if pending else Graph()
    waiting = [instance for instance in pending if graph.upstreams(instance.job_id)]
    if not waiting:
        return {}
    ids = {upstream for instance in waiting for upstream in graph.upstreams(instance.job_id)}
    rows = models.Instance.objects.filter(job__in=ids, logical_at__in={one.logical_at for one in waiting})
    names = dict(models.Job.objects.filter(pk__in=ids).values_list("pk", "name"))
    latest = {
        (row.job_id, row.logical_at): row
        for row in rows.select_related("job").defer(*models.LARGE_OF_JOB).order_by("generation")
    }
    views: dict[int, HoldView] = {}
    for instance in waiting:
        upstreams = graph.upstreams(instance.job_id)
        standing = {up: latest.get((up, instance.logical_at)) for up in upstreams}
        if _keeps_waiting(instance, standing):
            views[instance.pk] = _view(instance, standing, names, now)
    return views


def _keeps_waiting(instance: models.Instance, standing: dict[int, models.Instance | None]) -> bool:
    """One that is decided is done or ended by the engine in a moment."""
    statuses = [row.status if row else None for row in standing.values()]
    if all(status in TERMINAL for status in statuses):
        return False
    failed = {Status.FAILED, Status.TIMEOUT, Status.UPSTREAM_FAILED}
    if instance.job.upstream_rule == UpstreamRule.ANY_FAILED:
        return not failed & set(statuses)
    spoilt = (TERMINAL - {Status.SUCCESS}) & set(statuses)
    return instance.job.upstream_rule == UpstreamRule.ALL_DONE or not spoilt


def _view(
    instance: models.Instance, standing: dict[int, models.Instance | None], names: dict[int, str], now: datetime
) -> HoldView:
    open_ones = {up: row for up, row in standing.items() if row is None or row.status not in TERMINAL}
    missing = [names.get(up, str(up)) for up, row in open_ones.items() if row is None]
    ends = [_ends_at(row, now) for row in open_ones.values() if row is not None]
    parts = [f"its upstream {name} has no instance of that date" for name in missing]
    parts += [_says(row, now) for row in open_ones.values() if row is not None]
    shown = parts[:MOST_NAMED] + ([f"and {len(parts) - MOST_NAMED} more"] if len(parts) > MOST_NAMED else [])
    sentence = "; ".join(shown)
    known = [end for end in ends if end is not None]
    if missing:
        return HoldView("upstream", sentence, None, "it waits until there is one; run that job for the date")
    if len(known) < len(ends):
        return HoldView("upstream", sentence, None, "nobody knows when its upstreams will be done")
    return HoldView("upstream", sentence, max([instance.due_at, *known]))


def _says(row: models.Instance, now: datetime) -> str:
    end = _ends_at(row, now)
    done = f", done at about {clock(end, now)}" if end is not None and end > now else ""
    late = ", done any moment" if end is not None and end <= now else ""
    return f"waits for {row.job.name} (instance {row.pk}, {row.status}{done}{late})"


def _ends_at(row: models.Instance, now: datetime) -> datetime | None:
    """Of one that runs; when another starts is not known here."""
    if row.status != Status.RUNNING or row.started_at is None:
        return None
    expected = Job(0, usual_seconds=row.job.usual_seconds, timeout_seconds=row.job.timeout_seconds).expected_seconds
    return expected_end(row.started_at, expected, now)
