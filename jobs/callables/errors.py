"""What a callable may raise to tell something of its end."""

from __future__ import annotations

from jobs.embedded.errors import JobCancelled, NonRetryableError

__all__ = ["JobCancelled", "NonRetryableError", "SharedProcessError"]


class SharedProcessError(RuntimeError):
    """A callable that shares its process called what would change it for the others in it."""

    def __init__(self, function: str) -> None:
        super().__init__(
            f"{function} would change the process that this callable shares with others: "
            'declare it with model="process", or do it in a process that it starts'
        )
