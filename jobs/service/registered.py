"""Jobs that run callables, brought up to what the code says of these now."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from jobs.callables import registry
from jobs.core.running import ExecutionModel
from jobs.models import Job
from jobs.store import definitions

# No user can be called so: their names have no colon.
ACTOR = "rota:code"


def take_over(now: datetime) -> None:
    """At each start of the service, for code changes only between two: the model, the cores and the parameters of each
    job whose callable has others by now. Limits, pages, forms and the database's own rules go by what is stored.
    """
    names = {one.name: one for one in registry.all()}
    for job in Job.objects.filter(kind=Job.Kind.CALLABLE, body__in=names).order_by("pk"):
        if values := _differing(job, names[job.body]):
            with transaction.atomic():
                definitions.lock(job.pk)
                definitions.rewrite(job.pk, values, actor=ACTOR, now=now)


def _differing(job: Job, found: registry.Registered) -> dict[str, Any]:
    cores = max(1, job.cores) if found.model == ExecutionModel.PROCESS.value else job.cores
    wanted = {"execution_model": found.model, "cores": cores, "parameters": found.schema}
    return {name: value for name, value in wanted.items() if getattr(job, name) != value}
