"""One attempt in flight, and how it ended: between the scheduler and whatever runs jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from jobs.core.states import OutcomeKind
from jobs.embedded.cancellation import CancellationToken
from jobs.embedded.errors import NonRetryableError

if TYPE_CHECKING:
    from jobs.embedded.handles import Handle


@dataclass(slots=True)
class Attempt:
    """`begun`: it may run code of the job. `ending`: as what it is to end, once it has been asked to.

    `abandoned`: its job has ended without it.
    """

    handle: Handle
    token: str
    begun: bool = False
    ending: OutcomeKind | None = None
    abandoned: bool = False
    cancellation: CancellationToken = field(default_factory=CancellationToken)


@dataclass(frozen=True, slots=True)
class Report:
    """How an attempt ended by itself. `final`: trying again would not help."""

    kind: OutcomeKind
    value: Any = None
    exception: BaseException | None = None
    error: str = ""
    final: bool = False


class Executor(Protocol):
    """Runs attempts of one model."""

    def start(self, attempt: Attempt, report: Callable[[Attempt, Report], None]) -> None:
        """Return at once; report once, from any thread."""
        ...

    def end(self, attempt: Attempt) -> None:
        """Its token is set already. Return at once; the report still comes."""
        ...

    def close(self) -> None:
        """Nothing is started any more."""
        ...


def succeeded(value: Any) -> Report:
    return Report(OutcomeKind.SUCCESS, value=value)


def failed(exception: BaseException) -> Report:
    """A job that raises TimeoutError itself has failed, too: only the scheduler's own timer makes a timeout."""
    final = isinstance(exception, NonRetryableError)
    return Report(OutcomeKind.FAILED, exception=exception, error=sentence(exception), final=final)


def sentence(exception: BaseException) -> str:
    """Its name and what it says. Whatever its own `str` raises: the attempt has to be reported, or it never ends."""
    try:
        said = str(exception)
    except Exception as error:  # noqa: BLE001 - the code of a job
        said = f"(what it says cannot be told: its str raised {type(error).__name__})"
    return f"{type(exception).__name__}: {said}" if said else type(exception).__name__
