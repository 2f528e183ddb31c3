"""Rows as the frozen records that the engine takes in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from jobs import models
from jobs.callables import registry
from jobs.core import records
from jobs.core.graph import Graph, in_order
from jobs.core.policies import UpstreamRule
from jobs.core.states import Status
from jobs.store.environments import BLOCK_AT, key_of
from jobs.store.limits import keys_of


def job(row: models.Job, upstreams: Iterable[int] = (), cannot_run: str = "", environment: str = "") -> records.Job:
    """The definition as decisions need it. `upstreams`: ids of the jobs that it waits for. `environment`: its key."""
    return records.Job(
        id=row.pk,
        revision=row.revision,
        name=row.name,
        demand=records.Demand(row.cores, row.memory_mb),
        priority=row.priority,
        timeout_seconds=row.timeout_seconds,
        retry=records.RetryPolicy(
            row.max_retries,
            row.retry_delay_seconds,
            row.retry_max_delay_seconds,
            row.retry_jitter,
            tuple(row.retry_only_exit_codes),
            tuple(row.retry_never_exit_codes),
        ),
        paused=row.paused,
        usual_seconds=row.usual_seconds,
        tenant=row.tenant,
        deadline_seconds=row.deadline_seconds,
        start_deadline_seconds=row.start_deadline_seconds,
        upstreams=tuple(upstreams),
        upstream_rule=UpstreamRule(row.upstream_rule),
        not_before=row.not_before,
        max_running=row.max_running,
        limits=keys_of(row),
        rates=tuple(row.rates),
        pause_after_failures=row.pause_after_failures,
        failures_in_a_row=row.failures_in_a_row,
        cannot_run=cannot_run,
        environment=environment,
    )


UNREAD = ("body", "description", "parameters", "parameter_values")  # by the engine


def jobs(ids: Iterable[int], graph: Graph) -> list[records.Job]:
    """Without those that are gone. With all jobs of the workflows that they are part of, upstreams first."""
    wanted = {member for job_id in ids for member in (graph.component(job_id) if job_id in graph else (job_id,))}
    found = models.Job.objects.filter(pk__in=wanted).defer(*UNREAD).annotate(block_at=BLOCK_AT)
    rows = {row.pk: row for row in found}
    keys = {row.pk: key_of(row, has_block=row.block_at > 0) for row in found}
    gone = _gone(row.pk for row in found if row.kind == models.Job.Kind.CALLABLE)
    return [job(rows[pk], graph.upstreams(pk), gone.get(pk, ""), keys[pk]) for pk in in_order(rows, graph.upstreams)]


def _gone(ids: Iterable[int]) -> dict[int, str]:
    """Those of these jobs whose callable is not there, and what is to be said of it. One query, none for none."""
    wanted = list(ids)
    if not wanted:
        return {}
    names = models.Job.objects.filter(pk__in=wanted).values_list("pk", "body")
    return {pk: sentence for pk, name in names if (sentence := registry.missing(name))}


def workflows() -> Graph:
    """All dependencies there are. One query over a small table."""
    edges = defaultdict(list)
    for job_id, upstream_id in models.Dependency.objects.values_list("job_id", "upstream_id"):
        edges[job_id].append(upstream_id)
    graph = Graph()
    for job_id, upstreams in edges.items():
        graph.put(job_id, upstreams)
    return graph


def with_upstreams(instances: Iterable[models.Instance], graph: Graph) -> list[models.Instance]:
    """The instances, and after them the latest generation of their upstreams on the same dates."""
    listed = list(instances)
    pending = [row for row in listed if row.status == Status.PENDING]
    wanted = {(up, row.logical_at) for row in pending for up in graph.upstreams(row.job_id)}
    if not wanted:
        return listed
    rows = models.Instance.objects.filter(
        job_id__in={job_id for job_id, _ in wanted}, logical_at__in={date for _, date in wanted}
    ).select_related("blame__job")
    there = {row.pk for row in listed}
    latest = {(row.job_id, row.logical_at): row for row in rows.order_by("generation")}
    upstreams = [row for key, row in latest.items() if key in wanted and row.pk not in there]
    # What waits comes first: how an upstream stands is kept only for somebody who waits on its date.
    return [*pending, *(row for row in listed if row.status != Status.PENDING), *upstreams]


def instance(row: models.Instance) -> records.Instance:
    return records.Instance(
        id=row.pk,
        job_id=row.job_id,
        status=Status(row.status),
        logical_at=row.logical_at,
        due_at=row.due_at,
        generation=row.generation,
        schedule_id=row.schedule_id,
        queued_at=row.queued_at,
        order_key=row.order_key,
        attempts=row.attempt_count,
        lost_attempts=row.lost_count,
        retry_at=row.retry_at,
        cancel_requested=row.cancel_requested_at is not None,
        serial=row.serial,
        blame=None if row.blame is None else blame(row.blame),
        backfill=row.backfill_id is not None,
    )


def blame(row: models.Instance) -> records.Blame:
    return records.Blame(row.pk, row.job.name, Status(row.status))
