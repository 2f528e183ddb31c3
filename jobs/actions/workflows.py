"""Running and retrying along dependencies: instances of one logical date, made together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from jobs.actions.answers import BeingDeleted, InvalidInput, NotFound, Problem, Refused, Submitted
from jobs.actions.parameters import check_own_values, values_for_run
from jobs.actions.reading import shown
from jobs.core.graph import Graph
from jobs.core.states import LIVE, Status
from jobs.given import ran_with
from jobs.models import Instance, Job
from jobs.store import definitions, read, wishes, workflows
from jobs.store.locks import once_more

JOB, WORKFLOW = "job", "workflow"
SCOPES = (JOB, WORKFLOW)


@once_more
@transaction.atomic
def run_job(
    job_id: int,
    *,
    actor: str,
    now: datetime,
    scope: str | None = None,
    logical_at: datetime | None = None,
    parameters: object = None,
    before: Mapping[str, Any] | None = None,
) -> Submitted:
    """One instance more, due now, whatever the schedule says; while the job is paused it waits. Raises NotFound.

    `scope` workflow: one of each job of its workflow, all for one logical date: `logical_at`, or now. Scope job: only
    this one; it waits for its upstreams of that date, and the answer names those that have none. Without a date it is
    for the latest that its upstreams have. Without a scope a job that begins a workflow takes the others along. A date
    that is there already takes the next generation.
    `parameters`: values by name, of this job alone; those that are left out are the job's. In a workflow each job has
    its own. A value that is masked means the one in `before`, what another run was given. Raises InvalidInput.
    """
    graph = read.workflows()
    if _takes_others_along(job_id, graph, scope, parameters):
        return _run_workflow(job_id, graph, logical_at or now, actor, now)
    # With what begins its workflow: a fire holds that schedule, and may be making an instance of this very date.
    job = _locked([job_id, *workflows.roots(graph, job_id)]).get(job_id)
    if job is None:
        raise NotFound("job", job_id)
    if job.being_deleted:
        raise BeingDeleted(job.name)
    upstreams = graph.upstreams(job_id)
    date = logical_at or workflows.latest_date(upstreams) or now
    there = workflows.latest_of(upstreams, date)
    missing = [up for up in upstreams if up not in there]
    instance = wishes.submit(
        job,
        cause=Instance.Cause.MANUAL,
        actor=actor,
        now=now,
        due_at=now,
        logical_at=date,
        parameter_values=values_for_run(job, parameters, before),
    )
    names = workflows.names_of(missing)
    return Submitted(instance.pk, job_id, is_new=True, missing=tuple(names[up] for up in missing if up in names))


def _takes_others_along(job_id: int, graph: Graph, scope: str | None, parameters: object) -> bool:
    """Whether the whole workflow is to run. Raises InvalidInput."""
    if scope not in (None, *SCOPES):
        sentence = f"scope is {shown(scope)}, expected {' or '.join(SCOPES)}."
        raise InvalidInput([Problem("scope", shown(scope), " or ".join(SCOPES), sentence)])
    begins = bool(graph.dependents(job_id)) and not graph.upstreams(job_id)
    if scope == JOB or (scope is None and not begins):
        return False
    if parameters:
        sentence = "parameters are for one job, and in a workflow each has its own values; run it with scope job."
        raise InvalidInput([Problem("parameters", shown(parameters), "nothing, or scope job", sentence)])
    return True


@once_more
@transaction.atomic
def retry_instance(instance_id: int, *, actor: str, now: datetime) -> Submitted:
    """A new instance of the same logical date, linked to the ended one; or the retry of it that has not ended yet.

    What ended as upstream_failed below it on that date comes back, too. Raises Refused while it has not ended,
    NotFound.
    """
    ended = _ended(instance_id)
    if under_way := _under_way(ended):
        return Submitted(under_way.pk, ended.job_id, is_new=False)
    graph = read.workflows()
    below = graph.below(ended.job_id) if ended.job_id in graph else []
    jobs = _locked(below)
    latest = workflows.latest_of(below, ended.logical_at)
    retry = _again(ended, ended.job, actor, now)
    back = {ended.job_id}
    made: list[int] = []
    for job_id in below:
        row = latest.get(job_id)
        if row is not None and row.status == Status.UPSTREAM_FAILED and not back.isdisjoint(graph.upstreams(job_id)):
            made.append(_again(row, jobs[job_id], actor, now).pk)
            back.add(job_id)
    return Submitted(retry.pk, ended.job_id, is_new=True, also=tuple(made))


@once_more
@transaction.atomic
def retry_from_here(instance_id: int, *, actor: str, now: datetime) -> Submitted:
    """The next generation of it and of all that waits for it, directly or not, on its logical date.

    What waits there already goes on waiting. Raises Refused while any of them is queued or runs, NotFound.
    """
    ended = _ended(instance_id)
    if under_way := _under_way(ended):
        return Submitted(under_way.pk, ended.job_id, is_new=False)
    graph = read.workflows()
    below = graph.below(ended.job_id) if ended.job_id in graph else []
    jobs = _locked([ended.job_id, *below])
    latest = workflows.latest_of([ended.job_id, *below], ended.logical_at)
    for job_id, row in latest.items():
        if row.status in LIVE and row.status != Status.PENDING:
            name = jobs[job_id].name
            raise Refused(f"Instance {row.pk} of {name} is {row.status}; cancel it first, or wait until it ends.")
    retry = _again(ended, ended.job, actor, now)
    made: list[int] = []
    for job_id in below:
        before = latest.get(job_id)
        if before is None:
            made.append(_submit(jobs[job_id], ended.logical_at, now, actor, now, Instance.Cause.RETRY).pk)
        elif before.status not in LIVE:
            made.append(_again(before, jobs[job_id], actor, now).pk)
    return Submitted(retry.pk, ended.job_id, is_new=True, also=tuple(made))


def _run_workflow(job_id: int, graph: Graph, date: datetime, actor: str, now: datetime) -> Submitted:
    members = _locked(graph.component(job_id))
    if job_id not in members:
        raise NotFound("job", job_id)
    if members[job_id].being_deleted:
        raise BeingDeleted(members[job_id].name)
    for member in members.values():
        check_own_values(member)
    zone = workflows.zone_of(graph, job_id)
    cause = Instance.Cause.WORKFLOW
    made = workflows.submit_date(members, graph, date, zone=zone, cause=cause, actor=actor, now=now)
    own = next(instance.pk for instance in made if instance.job_id == job_id)
    return Submitted(own, job_id, is_new=True, also=tuple(one.pk for one in made if one.pk != own))


def _ended(instance_id: int) -> Instance:
    # Locked, so that the second click of two at once finds what the first made; without its key, to which the retries
    # of what waits for it refer.
    rows = Instance.objects.select_for_update(of=("self",), no_key=True).select_related("job")
    ended = rows.filter(pk=instance_id).first()
    if ended is None:
        raise NotFound("instance", instance_id)
    if ended.status in LIVE:
        raise Refused(f"Instance {instance_id} is {ended.status}; cancel it first, or wait until it ends.")
    if ended.job.being_deleted:
        raise BeingDeleted(ended.job.name)
    return ended


def _under_way(ended: Instance) -> Instance | None:
    return Instance.objects.filter(retry_of=ended, status__in=LIVE).order_by("pk").first()


def _locked(job_ids: Iterable[int]) -> dict[int, Job]:
    return {job.pk: job for job in definitions.lock_all(job_ids)}


def _again(ended: Instance, job: Job, actor: str, now: datetime) -> Instance:
    due_at = max(now, ended.due_at)
    return _submit(job, ended.logical_at, due_at, actor, now, Instance.Cause.RETRY, retry_of=ended)


def _submit(
    job: Job,
    date: datetime,
    due_at: datetime,
    actor: str,
    now: datetime,
    cause: Instance.Cause,
    retry_of: Instance | None = None,
) -> Instance:
    return wishes.submit(
        job,
        cause=cause,
        actor=actor,
        now=now,
        due_at=due_at,
        logical_at=date,
        retry_of=retry_of,
        parameter_values=ran_with(retry_of) if retry_of else None,
    )
