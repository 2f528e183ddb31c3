"""Jobs that a form's test makes: no failure of theirs is anybody's trouble."""

from __future__ import annotations

from django.db.models import Q

SUFFIX = " (test)"
_BEGINS, _ENDS = "Test runs of ", ", made by its form; it may be deleted."


def description_of(name: str) -> str:
    """What tells such a job apart, together with its name: neither is a tag, which anybody may give to a job."""
    return f"{_BEGINS}{name}{_ENDS}"


def is_trial(to_job: str = "") -> Q:
    """The condition on jobs, or with `to_job` such as "job__" on what belongs to one."""
    description = f"{to_job}description__"
    return Q(
        **{
            f"{to_job}name__endswith": SUFFIX,
            f"{description}startswith": _BEGINS,
            f"{description}endswith": _ENDS,
        }
    )
