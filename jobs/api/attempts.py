"""One attempt of an instance: what it used over its time, and how it was run."""

# ruff: noqa: ARG001 - Ninja hands the request to every operation

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest
from ninja import Router

from jobs.actions import NotFound, Refused
from jobs.actions.reading import shown
from jobs.api import answers
from jobs.api.moments import iso
from jobs.api.outputs import rundir_of
from jobs.api.strict import identifier
from jobs.downloads import download
from jobs.execution import outputs
from jobs.execution.conditions import Conditions, conditions_of
from jobs.execution.rundir import BrokenFileError
from jobs.execution.samples import read_samples
from jobs.execution.spec import FormatError
from jobs.models import Attempt

router = Router(tags=["instances"])


@router.get(
    "/instances/{instance_id}/attempts/{number}/samples", response={200: answers.SamplesAnswer, **answers.REFUSALS}
)
def read_attempt_samples(request: HttpRequest, instance_id: str, number: str) -> Any:
    """Cores and memory of all its processes together, oldest first: one a second at first, of a long run one for
    several. `cores` is the average since the sample before, `memory_bytes` the most in that time.
    """
    attempt = _find(instance_id, number)
    return {
        "number": attempt.number,
        "complete": attempt.ended_at is not None,
        "peak_memory_bytes": attempt.peak_memory_bytes,
        "cpu_seconds": attempt.cpu_seconds,
        "samples": [sample._asdict() for sample in read_samples(rundir_of(attempt))],
    }


@router.get(
    "/instances/{instance_id}/attempts/{number}/conditions",
    response={200: answers.ConditionsAnswer, **answers.REFUSALS},
)
def read_attempt_conditions(request: HttpRequest, instance_id: str, number: str) -> Any:
    """What its program was given, as the run directory has it; 404 when that is gone.

    Masked are the values of variables with PASS, SECRET, TOKEN, KEY, CREDENTIAL, AUTH, PRIVATE, COOKIE, SIGNATURE or
    DSN in their names, passwords in addresses, and what the job is given as a secret: `secrets` has the names of
    these by variable. A secret by no other sign than its value is told.
    """
    attempt = _find(instance_id, number)
    try:
        found = conditions_of(rundir_of(attempt))
    except (BrokenFileError, FormatError) as broken:
        raise Refused(f"How it was run cannot be read: {broken}.") from broken
    if found is None:
        raise NotFound(f"run directory of attempt {number} of instance", attempt.instance_id)
    return _shape(attempt, found)


@router.get(
    "/instances/{instance_id}/attempts/{number}/outputs", response={200: answers.OutputsAnswer, **answers.REFUSALS}
)
def list_attempt_outputs(request: HttpRequest, instance_id: str, number: str) -> Any:
    """The files that it has put into `$ROTA_OUTPUT`, by name, at most 1,000."""
    attempt = _find(instance_id, number)
    files = [
        {"name": one.name, "size_bytes": one.size, "modified_at": iso(datetime.fromtimestamp(one.modified_at, UTC))}
        for one in outputs.listed(rundir_of(attempt))
    ]
    return {"number": attempt.number, "outputs": files}


@router.get("/instances/{instance_id}/attempts/{number}/outputs/{path:name}", response=answers.REFUSALS)
def read_attempt_output(request: HttpRequest, instance_id: str, number: str, name: str) -> Any:
    """One of these files, as its bytes."""
    attempt = _find(instance_id, number)
    try:
        fd = outputs.open_output(rundir_of(attempt), name)
    except FileNotFoundError:
        raise NotFound(f"output {shown(name)} of attempt {number} of instance", attempt.instance_id) from None
    return download(fd, name)


def _shape(attempt: Attempt, found: Conditions) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "argv": list(found.argv),
        "working_directory": found.working_directory,
        "environment": {variable.name: variable.value for variable in found.variables},
        "secrets": {variable.name: variable.secret for variable in found.variables if variable.secret},
        "masked": [variable.name for variable in found.variables if variable.masked],
        "cores": attempt.cores,
        "virtual_cores": attempt.virtual_cores,
        "pinned_to": None if found.cores is None else list(found.cores),
        "memory_mb_allocated": attempt.memory_mb,
        "nice": found.nice,
        "umask": f"{found.umask:04o}",
        "timeout_seconds": found.timeout_seconds,
        "kill_grace_seconds": found.kill_grace_seconds,
        "log_cap_bytes": found.log_cap_bytes,
        "keep_workspace": found.keep_workspace,
        "run_as": found.run_as,
        "io_priority": found.io_priority,
        "max_processes": found.max_processes,
        "max_file_bytes": found.max_file_bytes,
        "packages": _packages(found),
        "start": found.start,
        "start_note": found.start_note,
    }


def _packages(found: Conditions) -> dict[str, Any] | None:
    if not found.environment:
        return None
    facts = found.packages
    return {
        "environment": found.environment,
        "python_version": facts.version if facts else None,
        "requirements": facts.requirements if facts else None,
        "built_at": iso(datetime.fromtimestamp(facts.built_at, UTC)) if facts else None,
    }


def _find(instance_id: str, number: str) -> Attempt:
    of, which = identifier("instance", instance_id), identifier("attempt", number)
    found = Attempt.objects.filter(instance_id=of, number=min(which, 2**31 - 1)).first()
    if found is None:
        raise NotFound(f"attempt {which} of instance", of)
    return found
