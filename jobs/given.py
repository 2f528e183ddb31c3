"""What the runs of a job were given: kept with the instance, or in the run directory of an attempt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from jobs.core.texts import fault_of, texts_in
from jobs.execution.launch import AttemptRef
from jobs.execution.prepare import path_of
from jobs.execution.rundir import PARAMETERS, BrokenFileError, RunDir
from jobs.models import Attempt, Instance


def ran_with(instance: Instance) -> dict[str, Any] | None:
    """The values of its parameters, complete; None while it is not known: what its job says then is what it will get.

    What a schedule made has the values that its job had as it was started, which the latest attempt has in a file.
    """
    if instance.parameter_values is not None:
        return dict(instance.parameter_values)
    attempt = Attempt.objects.filter(instance=instance).order_by("-number").first()
    return recorded(attempt) if attempt else None


def recorded(attempt: Attempt) -> dict[str, Any] | None:
    """As its run directory has it; None if it has none (any more), or the job has put something else there."""
    path = path_of(settings.DATA_DIR / "runs", AttemptRef(attempt.instance_id, attempt.number, attempt.token))
    try:
        with RunDir(str(path)) as rundir:
            found = rundir.read_json(PARAMETERS)
    except (OSError, BrokenFileError):
        return None
    return found if found is None or is_storable(found) else None


def is_storable(values: Mapping[str, Any]) -> bool:
    return not any(fault_of(text, lines=True) for text in texts_in(values))
