"""What an action says when it was done, and when it was not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input. `field` is its name in the API; `given` is cut short and printable."""

    field: str
    given: str
    expected: str
    sentence: str


class ActionError(Exception):
    """An action that was not done; nothing was changed. `sentence` says why and what to do."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class InvalidInput(ActionError):
    """The input was refused; `problems` has everything that is wrong with it, not only the first."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(" ".join(problem.sentence for problem in problems))
        self.problems = problems


class Refused(ActionError):
    """The input is fine, but things are not as the action needs them."""


class NotFound(ActionError):
    """There is no such job, instance or node."""

    def __init__(self, what: str, identifier: object) -> None:
        super().__init__(f"There is no {what} {identifier}; it may have been deleted.")


class ChangedMeanwhile(Refused):
    """What was edited is no longer what is stored; `what` as a sentence begins with it."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} was changed by somebody else meanwhile; load it again, then change it.")


class BeingDeleted(Refused):
    """The job is marked for deletion, and nothing brings it back."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is being deleted: what runs of it is stopped first, then it goes by itself. "
            "Nothing of it can be run, resumed or changed; make a new job instead."
        )


@dataclass(frozen=True, slots=True)
class Created:
    """`instance_id` is that of the instance that runs at once, None when the schedule makes the first one."""

    job_id: int
    name: str
    created_at: datetime
    instance_id: int | None


@dataclass(frozen=True, slots=True)
class Changed:
    """`changed` names what is different now: columns of the job, "schedule", "upstreams". Empty: all was so already.

    `with_it`: names of the other jobs to which the same was done, because they begin one workflow together.
    """

    job_id: int
    changed: tuple[str, ...]
    with_it: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deleted:
    """`running` instances are being ended; while there are any the job is marked, and goes by itself after them."""

    job_id: int
    cancelled: int
    running: int

    @property
    def gone(self) -> bool:
        return self.running == 0


@dataclass(frozen=True, slots=True)
class Submitted:
    """`is_new` is False when the wish had been granted already: the second click of a double click.

    `also`: ids of the instances of other jobs that were made with it. `missing`: names of the jobs that it waits for
    and that have no instance of its logical date.
    """

    instance_id: int
    job_id: int
    is_new: bool
    also: tuple[int, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WaitingCancelled:
    """How many instances of the job waited and will not run."""

    job_id: int
    cancelled: int


@dataclass(frozen=True, slots=True)
class Cancelled:
    """`answer`: cancelled (it waited), stopping (it runs and is being ended) or ended (too late, as it was)."""

    instance_id: int
    answer: str
    sentence: str
