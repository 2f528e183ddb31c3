"""What an instance printed, at its end, for lists and details."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from jobs.core.states import Status
from jobs.execution import log
from jobs.execution.launch import AttemptRef
from jobs.execution.prepare import path_of
from jobs.execution.rundir import BrokenFileError
from jobs.models import Attempt, Instance

IN_LISTS = 500
IN_DETAIL = 50_000
QUIET = (Status.SUCCESS, Status.RUNNING)


@dataclass(frozen=True, slots=True)
class Output:
    """`printed`: the end of both streams, as they came. `error`: of a failure the end of stderr, then the reason."""

    printed: str
    error: str


def rundir_of(attempt: Attempt) -> Path:
    return path_of(settings.DATA_DIR / "runs", AttemptRef(attempt.instance_id, attempt.number, attempt.token))


def latest_output(instance: Instance, chars: int) -> Output:
    """Of its latest attempt. `instance` has its attempts at hand."""
    attempt = max(instance.attempts.all(), key=lambda one: one.number, default=None)
    if attempt is None:
        return Output("", instance.error)
    path = rundir_of(attempt)
    try:
        printed = log.tail_text(path, chars)
        if instance.status in QUIET:
            return Output(printed, "")
        said = _stderr(path, chars) if printed else ""
    except (BrokenFileError, OSError, ValueError) as broken:  # one damaged file must not hide the others of a list
        return Output("", str(broken))
    lines = [part for part in (said.rstrip("\n"), instance.error) if part]
    return Output(printed, "\n".join(lines)[-chars:])


def _stderr(path: Path, chars: int) -> str:
    """Of the last bytes of the log, what came by stderr: a flood of stdout after it is not searched."""
    end = log.state(path).end
    window = chars * 8
    return log.read_text(path, max(0, end - window), window, log.STDERR).text[-chars:]
