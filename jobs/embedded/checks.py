"""Whether what a program gave is what is expected. Each raises InvalidJob, with what was given and what is expected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeGuard

from jobs.core.records import RetryPolicy
from jobs.embedded.errors import InvalidJob

# A century: added to a moment, much more is no date any more, and would end the scheduler instead of the job.
LONGEST_SECONDS = 36_525 * 86_400.0


def is_seconds(given: object) -> TypeGuard[float]:
    """A number, at most a century either way, and not NaN."""
    return isinstance(given, int | float) and not isinstance(given, bool) and abs(given) <= LONGEST_SECONDS


def check_text(name: str, given: object) -> None:
    if not isinstance(given, str):
        raise InvalidJob(f"{name} {given!r} was given; a text is expected")


def check_texts(name: str, given: object) -> None:
    """Not one text, whose letters would be taken for names."""
    if isinstance(given, str) or not isinstance(given, Iterable) or not all(isinstance(one, str) for one in given):
        raise InvalidJob(f"{name} {given!r} was given; a tuple of texts is expected, such as ('etl',)")


def check_call(args: object, kwargs: object) -> None:
    if not isinstance(args, tuple | list):
        raise InvalidJob(f"args {args!r} was given; a tuple is expected, such as (1, 2)")
    if not isinstance(kwargs, Mapping) or not all(isinstance(name, str) for name in kwargs):
        raise InvalidJob(f"kwargs {kwargs!r} was given; a mapping from names to values is expected")


def check_retry(policy: object) -> None:
    if not isinstance(policy, RetryPolicy):  # as check_kind, which tells mypy nothing
        raise InvalidJob(f"retry {policy!r} was given; a RetryPolicy is expected")
    most = policy.max_retries
    if isinstance(most, bool) or not isinstance(most, int) or most < 0:
        raise InvalidJob(f"max_retries {most!r} of a retry was given; a whole number, 0 or more, is expected")
    for option in ("delay_seconds", "max_delay_seconds"):
        seconds = getattr(policy, option)
        if not is_seconds(seconds) or seconds < 0:
            raise InvalidJob(
                f"{option} {seconds!r} of a retry was given; 0 or more seconds, at most a century, are expected"
            )


def check_wait(name: str, seconds: object) -> None:
    """How long to wait; None is for ever."""
    if seconds is not None and not is_seconds(seconds):
        raise InvalidJob(f"{name} {seconds!r} was given; seconds, at most a century, or None, are expected")


def check_kind(name: str, given: object, kind: type) -> None:
    if not isinstance(given, kind):
        raise InvalidJob(f"{name} {given!r} was given; a {kind.__name__} is expected")


def check_has(name: str, given: object, method: str, expected: str) -> None:
    """By what it can do: programs may bring their own."""
    if not callable(getattr(given, method, None)):
        raise InvalidJob(f"{name} {given!r} was given; {expected} is expected")


def due_at(now: datetime, delay_seconds: float, at: datetime | None) -> datetime:
    """When what is submitted with these is due. Raises InvalidJob."""
    if at is not None:
        if not isinstance(at, datetime):
            raise InvalidJob(f"at {at!r} was given; an aware datetime is expected")
        if at.tzinfo is None:
            raise InvalidJob(f"at {at} was given, which is a moment in no zone; an aware datetime is expected")
        if not is_seconds((at - now).total_seconds()):
            raise InvalidJob(f"at {at} was given; a moment within a century of now is expected")
        return at.astimezone(UTC)
    if not is_seconds(delay_seconds):
        raise InvalidJob(f"delay_seconds {delay_seconds!r} was given; seconds, at most a century, are expected")
    return now + timedelta(seconds=max(0.0, delay_seconds))
