"""The state of things now, read for a simulation. Reads only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q

from jobs import models
from jobs.core.invalid import InvalidSchedule
from jobs.core.present import Machine, Present, Underway
from jobs.core.states import LIVE, Status
from jobs.nodes import draining, state_of
from jobs.store import horizon, limits, read
from jobs.store.queuewindow import startable
from jobs.store.schedules import trigger_of

# What is simulated of a queue or of what waits for its moment: memory and time are bounded.
MOST_WAITING = 50_000


class NoNodeYet(Exception):
    """Nobody knows how many cores there are."""

    def __init__(self) -> None:
        super().__init__("No node has run the scheduler yet, so its cores are unknown; say how many with --cores.")


def load(now: datetime, *, days: float, cores: int | None = None, job_name: str = "") -> Present:
    """All that decides the next `days`, and the job of that name if there is one, whether it would run or not.

    `cores`: on a machine of so many instead of the nodes. Raises NoNodeYet.
    """
    nodes, notes = _nodes(now)
    machines = tuple(Machine(node.name, len(node.cores), node.overcommit, node.memory_mb) for node in nodes)
    if cores is not None:
        machines, nodes = (Machine("given", cores),), []
        notes = [f"Simulated with {cores} cores as given, instead of what the nodes have."]
    if not machines:
        raise NoNodeYet
    if len(machines) > 1:
        notes.append(f"{len(machines)} nodes are counted as one pool: their free cores are added up.")
    schedules = [horizon.schedule(row) for row in horizon.active_schedules()]
    live = _live(now + timedelta(days=days), notes)
    graph = read.workflows()
    seen = read.with_upstreams(live, graph)
    ended = [read.instance(row) for row in seen if row.status not in LIVE]
    alive = [row for row in seen if row.status in LIVE]
    named = models.Job.objects.filter(name=job_name).values_list("pk", flat=True)
    jobs = read.jobs({*named, *(row.job_id for row in seen), *(told.job_id for told in schedules)}, graph)
    job_ids = {job.id for job in jobs}
    return Present(
        now=now,
        machines=machines,
        jobs=tuple(jobs),
        schedules=tuple(told for told in schedules if told.job_id in job_ids),
        waiting=tuple(read.instance(row) for row in alive if row.status != Status.RUNNING and row.job_id in job_ids),
        running=tuple(
            _underway(row, {node.pk for node in nodes})
            for row in alive
            if row.status == Status.RUNNING and row.job_id in job_ids
        ),
        ended=tuple(ended),
        limits=limits.load(),
        order=settings.ORDER,
        weights=settings.TENANT_WEIGHTS,
        over=_over(),
        notes=(*notes, *_left_out()),
    )


def _left_out() -> Iterator[str]:
    if paused := models.Job.objects.filter(paused_at__isnull=False).count():
        who, is_ = (f"{paused:,} jobs", "are") if paused > 1 else ("1 job", "is")
        yield f"{who} {is_} paused and {is_} not simulated."
    if faulty := models.Schedule.objects.exclude(fault="").count():
        who = f"{faulty:,} schedules are" if faulty > 1 else "1 schedule is"
        yield f"{who} set aside with a fault and not simulated."


def _nodes(now: datetime) -> tuple[list[models.Node], list[str]]:
    """Those that take work; else all that are known, said so."""
    known = [node for node in models.Node.objects.order_by("name") if node.cores]
    at_work = [node for node in known if state_of(node, now) == "live" and not draining(node)]
    if not at_work and known:
        return known, ["No node takes work now; simulated as if those that are known did."]
    left_out = [node.name for node in known if node not in at_work]
    return at_work, [f"Nodes that take no work now are left out: {', '.join(left_out)}."] if left_out else []


def _live(until: datetime, notes: list[str]) -> list[models.Instance]:
    rows = models.Instance.objects.select_related("blame__job")
    due = Q(status=Status.PENDING, due_at__lte=until) | Q(status=Status.RETRYING, retry_at__lte=until)
    pending = list(rows.filter(due).order_by("due_at", "id")[: MOST_WAITING + 1])
    queued = list(startable().select_related("blame__job")[: MOST_WAITING + 1])
    for found, what in ((pending, "wait for their moment"), (queued, "are queued")):
        if len(found) > MOST_WAITING:
            found.pop()
            notes.append(f"More than {MOST_WAITING:,} instances {what}; the first of them are simulated.")
    return [*pending, *rows.filter(status=Status.RUNNING), *queued]


def _underway(row: models.Instance, node_ids: Sequence[int] | set[int]) -> Underway:
    since = row.started_at or row.queued_at or row.due_at
    slots = len(row.cores) + row.virtual_cores
    return Underway(read.instance(row), since, slots, row.memory_mb, counted=row.node_id in node_ids)


def _over() -> tuple[tuple[str, str], ...]:
    """Repeating schedules that have no fire to come, of jobs that are not paused."""
    repeating = ~Q(type__in=(models.Schedule.Type.ONCE, models.Schedule.Type.FIXED_DELAY))
    rows = models.Schedule.objects.filter(repeating, next_at__isnull=True, fault="", job__paused_at__isnull=True)
    return tuple(
        (row.job.name, _words(row)) for row in rows.select_related("job", "calendar").order_by("job__name")[:100]
    )


def _words(row: models.Schedule) -> str:
    try:
        return trigger_of(row).describe()
    except InvalidSchedule as refusal:
        return refusal.sentence
