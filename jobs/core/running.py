"""How the processes of a job are run, in the words of a job."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any


class StartMethod(StrEnum):
    """COLD: a new Python for each attempt. WARM: a fork of one that runs. AUTO: warm where nothing forbids it."""

    AUTO = "auto"
    COLD = "cold"
    WARM = "warm"


class ExecutionModel(StrEnum):
    """PROCESS: one of its own. THREAD, ASYNC: in the host process of the node, which callables share."""

    PROCESS = "process"
    THREAD = "thread"
    ASYNC = "async"


class IoPriority(StrEnum):
    NORMAL = "normal"
    LOW = "low"
    IDLE = "idle"


class CleanupAfter(StrEnum):
    """Ends of an attempt that its clean-up may follow."""

    SUCCESS = "success"
    FAILURE = "failure"
    TIMEOUT = "timeout"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How its processes are run. Field names are those of the model Job, and of the API."""

    start: str = StartMethod.AUTO
    working_directory: str = ""
    run_as: str = ""
    umask: str = "022"
    nice: int = 0
    io_priority: str = IoPriority.NORMAL
    max_processes: int | None = None
    max_file_mb: int | None = None
    cleanup_command: str = ""
    cleanup_after: tuple[str, ...] = tuple(CleanupAfter)
    cleanup_timeout_seconds: float = 60.0


USUAL_RUN = RunOptions()
RUN_FIELDS = tuple(option.name for option in fields(RunOptions))


def options_of(job: object) -> RunOptions:
    """From anything that has them by these names."""
    found: dict[str, Any] = {name: getattr(job, name) for name in RUN_FIELDS}
    return RunOptions(**found | {"cleanup_after": tuple(found["cleanup_after"])})
