"""Which environment a stored job runs in, as the engine knows it, and what it is made from."""

from __future__ import annotations

from django.db.models import Case, Value, When
from django.db.models.functions import StrIndex

from jobs.core.packages import key_read_there
from jobs.execution.declared import Declared
from jobs.models import Job
from jobs.packages import BLOCK_BEGINS, needed

# Whether a script says of itself what it needs, without loading it: one may have a megabyte.
BLOCK_AT = Case(When(kind=Job.Kind.SCRIPT, then=StrIndex("body", Value(BLOCK_BEGINS))), default=0)


def key_of(job: Job, *, has_block: bool) -> str:
    """`has_block`: its text has what a block begins with. Empty: the service's own Python."""
    if job.kind == Job.Kind.CALLABLE:
        return ""
    if job.kind == Job.Kind.SCRIPT_PATH or (job.kind == Job.Kind.SCRIPT and has_block):
        return key_read_there(job.pk, job.revision)
    return needed(job.python_version, job.requirements).key


def declared_by(job: Job) -> Declared | None:
    """None for a job that runs with the service's own Python."""
    name = key_of(job, has_block=BLOCK_BEGINS in job.body)
    if not name:
        return None
    text = job.body if job.kind == Job.Kind.SCRIPT else ""
    path = job.body if job.kind == Job.Kind.SCRIPT_PATH else ""
    return Declared(name, job.python_version, tuple(job.requirements), text, path)
