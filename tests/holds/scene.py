"""Nodes, jobs and instances at one fixed moment, and what is said of those that wait."""

from datetime import UTC, datetime, timedelta
from typing import Any

from jobs import holds
from jobs.models import Instance, Job, Node
from tests.dashboard import places

NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def make_node(name: str = "atlas", cores: int = 4, **fields: Any) -> Node:
    """Beats now; a hard limit on cores, unless said otherwise."""
    given = {"heartbeat_at": NOW, "started_at": at(-3600), "overcommit": 1.0}
    return places.make_node(name, cores, **(given | fields))


def make_job(cores: int = 1, **fields: Any) -> Job:
    return places.make_job(fields.pop("name", f"job {Job.objects.count()}"), cores=cores, **fields)


def make_queued(job: Job, **fields: Any) -> Instance:
    """Behind all that were made before."""
    return places.make_waiting(job, "queued", **({"now": NOW} | fields))


def make_running(job: Job, node: Node, cores: tuple[int, ...] = (0,), began_at: datetime = NOW) -> Instance:
    return places.make_running(job, node, cores, now=began_at, memory_mb=job.memory_mb)


def busy(node: Node, cores: int = 4, seconds: float | None = 600, **fields: Any) -> Instance:
    """The node's first cores are taken by a run that usually takes so long, and began just now."""
    return make_running(make_job(cores, usual_seconds=seconds, **fields), node, tuple(range(cores)))


def explain(*instances: Instance) -> dict[int, holds.HoldView]:
    found = Instance.objects.filter(pk__in=[i.pk for i in instances]).select_related("job")
    return holds.explain(found, NOW)


def why(instance: Instance) -> holds.HoldView:
    return explain(instance)[instance.pk]
