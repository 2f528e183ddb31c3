"""From committed starts to what the executor needs to know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef

from jobs import models
from jobs.callables import registry
from jobs.core import running
from jobs.core.records import Allocation
from jobs.execution.environment import project_secrets
from jobs.execution.launch import Launch
from jobs.parameters.faults import InvalidParameters
from jobs.parameters.values import resolve
from jobs.store import results, secrets
from jobs.store.environments import declared_by
from jobs.telemetry.memory import MEGABYTE


def launches(tokens: Sequence[str]) -> list[Launch]:
    """Of attempts that are `starting` in the store. Four queries at most, whatever their number; none for none."""
    if not tokens:
        return []
    found = models.Attempt.objects.filter(token__in=tokens).select_related("instance__job")
    granted = Exists(models.SecretGrant.objects.filter(job=OuterRef("instance__job")))
    rows = list(found.annotate(has_secrets=granted).order_by("pk"))
    given = results.of_upstreams([row.instance for row in rows])
    with_secrets = [row.instance.job_id for row in rows if row.has_secrets]
    opened = secrets.given_to(with_secrets) if with_secrets else {}
    return [_launch(row, given.get(row.instance_id, ""), opened.get(row.instance.job_id, secrets.NONE)) for row in rows]


def _launch(attempt: models.Attempt, upstream_results: str, opened: secrets.Opened) -> Launch:
    instance, job = attempt.instance, attempt.instance.job
    parameters, parameters_error = _parameters_of(instance)
    is_callable = job.kind == models.Job.Kind.CALLABLE
    called = registry.get(job.body) if is_callable else None
    return Launch(
        instance_id=instance.pk,
        job_id=job.pk,
        job_name=job.name,
        attempt=attempt.number,
        token=attempt.token,
        kind=job.kind,
        body=job.body,
        allocation=Allocation(tuple(attempt.cores), attempt.virtual_cores, attempt.memory_mb),
        logical_at=instance.logical_at,
        timeout_seconds=job.timeout_seconds,
        kill_grace_seconds=job.kill_grace_seconds,
        memory_limit_mb=attempt.memory_mb,
        env=dict(job.environment),
        declared=declared_by(job),
        run=running.options_of(job),
        keep_workspace=settings.KEEP_WORKSPACES if job.keep_workspace is None else job.keep_workspace,
        log_cap_bytes=settings.LOG_CAP_MB * MEGABYTE,
        output_cap_bytes=settings.OUTPUT_CAP_MB * MEGABYTE,
        min_free_disk_bytes=settings.MIN_FREE_DISK_MB * MEGABYTE,
        upstream_results=upstream_results,
        parameters=parameters,
        takes_parameters=bool(job.parameters),
        parameters_error=parameters_error,
        secrets=(*opened.values, *(project_secrets() if is_callable else ())),
        secrets_error=opened.error,
        fence=attempt.pk,
        model=job.execution_model,
        pooled=called is not None and called.pooled,
    )


def _parameters_of(instance: models.Instance) -> tuple[dict[str, Any], str]:
    """The values of the run, and why there are none: the job may have been edited since they were given."""
    job, given = instance.job, instance.parameter_values
    if not job.parameters and not given:
        return {}, ""
    try:
        return resolve(job.parameters, job.parameter_values if given is None else {}, given), ""
    except InvalidParameters as refusal:
        return {}, f"{refusal} The job may have been changed since; run it again with values that fit."
