"""What a job needs of its Python, in the words of its page."""

from __future__ import annotations

from jobs.models import Job
from jobs.packages import InvalidRequirements, ScriptBlock, script_block


def packages_of(job: Job) -> tuple[str, ...]:
    """A line each: the Python, then the packages, those that its text says too. Empty: as the service has them."""
    block = _block(job) or ScriptBlock()
    pythons = [job.python_version, block.python]
    named = [f"Python {' and '.join(filter(None, pythons))}"] if any(pythons) else []
    return (*named, *dict.fromkeys((*job.requirements, *block.requirements)))


def _block(job: Job) -> ScriptBlock | None:
    try:
        return script_block(job.body) if job.kind == Job.Kind.SCRIPT else None
    except InvalidRequirements:  # written past the check of a save; its start will say what is wrong
        return None
