"""What the service asks of an executor, and what the executor tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from jobs.core.records import Allocation, Outcome
from jobs.core.running import USUAL_RUN, RunOptions
from jobs.execution.declared import Declared
from jobs.execution.secrets import GivenSecret


@dataclass(frozen=True, slots=True)
class AttemptRef:
    """One attempt, anywhere: `token` is the one that was committed with it."""

    instance_id: int
    attempt: int
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """All that is needed to run one attempt. Durations are seconds, moments aware UTC datetimes.

    kind: "script" (`body` is its text), "script_path" (an absolute path on this node), "command" (for the shell) or
    "callable" (a name in the registry), which has a `model` ("process", "thread" or "async") and may be `pooled`.
    memory_limit_mb: what is reserved and may be used, 0 if the job does not say. start_before: after it nothing is
    started any more.
    secrets: of the job, given beside `env`. secrets_error: why they cannot be given, a sentence: then it is rejected.
    parameters: the values of this run, complete; takes_parameters: whether its job declares any. parameters_error: why
    there are no such values, a sentence: then it is rejected.
    upstream_results: a JSON object, by the names of upstreams what they gave; empty without upstreams.
    interpreter: absolute path of the Python that runs its scripts; "" for the service's own. environment: folder of the
    one that this belongs to; environment_error: why there is none, a sentence; preface: what the log begins with.
    declared: what it needs, None if that is no environment.
    fence: a number that rises from attempt to attempt of a job, for what the job guards outside; `attempt` if None.
    """

    instance_id: int
    job_id: int
    job_name: str
    attempt: int
    token: str
    kind: str
    body: str
    allocation: Allocation
    logical_at: datetime
    timeout_seconds: float | None = None
    kill_grace_seconds: float = 10.0
    memory_limit_mb: int = 0
    env: Mapping[str, str] = field(default_factory=dict)
    run: RunOptions = USUAL_RUN
    declared: Declared | None = None
    interpreter: str = ""
    environment: str = ""
    environment_error: str = ""
    preface: tuple[str, ...] = ()
    keep_workspace: bool = False
    log_cap_bytes: int = 50 * 1024 * 1024
    output_cap_bytes: int = 100 * 1024 * 1024
    min_free_disk_bytes: int = 0
    upstream_results: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    takes_parameters: bool = False
    parameters_error: str = ""
    secrets: tuple[GivenSecret, ...] = ()
    secrets_error: str = ""
    start_before: datetime | None = None
    fence: int | None = None
    model: str = "process"
    pooled: bool = False

    @property
    def hosted(self) -> str:
        """In which way it runs in a host process: "async", "thread" or "pooled"; "" for what has a runner."""
        if self.kind != "callable" or (self.model == "process" and not self.pooled):
            return ""
        return "pooled" if self.pooled else self.model

    @property
    def ref(self) -> AttemptRef:
        return AttemptRef(self.instance_id, self.attempt, self.token)


@dataclass(frozen=True, slots=True)
class Started:
    """The job's process exists."""

    ref: AttemptRef
    pid: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Ended:
    """The job ran and is gone with all that it started; or is lost."""

    ref: AttemptRef
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class NotStarted:
    """The job never ran and will not: rejected, cancelled before its start, or lost for a reason of the node.

    node_refused: the node could start nothing just now (full disk, no descriptor, no process, no launcher), which says
    nothing about this attempt: wait before the next one. False if the next would most likely end the same way.
    """

    ref: AttemptRef
    outcome: Outcome
    node_refused: bool = False


@dataclass(frozen=True, slots=True)
class Abandoned:
    """It has ended as far as anybody cares, but its thread runs on. Ended follows when that has ended."""

    ref: AttemptRef
    outcome: Outcome


Report = Started | Ended | NotStarted | Abandoned


class RecoveryKind(StrEnum):
    """NEVER_RAN: and will not from what was begun, so launch it again. ADOPTED: of it something is alive; Ended will
    be reported. ENDED: it ran to an end of its own. LOST: it ran, has no result, and nothing of it is left.
    """

    NEVER_RAN = "never_ran"
    ADOPTED = "adopted"
    ENDED = "ended"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Recovery:
    """`outcome` for ENDED and LOST. `started_at` for ADOPTED, if it has started already; if not,
    Started is reported when it has, unless it ends first or the disk did not take its started.json: the outcome says
    when it started in any case.
    """

    kind: RecoveryKind
    outcome: Outcome | None = None
    started_at: datetime | None = None
