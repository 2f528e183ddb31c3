"""The form of a new job: what was typed, kept as it was typed, and what the check said about each field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from jobs.actions import Problem
from jobs.actions.forms import raw_from_form

# What the form asks in one question each, and the API's fields that it becomes.
RUNS = {"script_content": "Python script", "command": "Shell command", "script_path": "Script file on the node"}
WHENS = {
    "now": "Now",
    "at": "Once, later",
    "interval": "Every so often",
    "daily": "Daily",
    "weekly": "Weekly",
    "cron": "Cron",
    "by_hand": "By hand only",
}
REPEATING = ("interval", "daily", "weekly", "cron")

TEXTS = (
    "name", "description", "cpu_cores_required", "memory_mb_required", "timeout_seconds", "max_retries",
    "retry_delay_seconds", "priority", "tags", "environment",
)  # fmt: skip
TIMING = ("schedule_expression", "start_date", "end_date", "timezone")
FIELDS = ("runs", "when", *RUNS, *TEXTS, *TIMING)

DEFAULTS = {"runs": "script_content", "when": "now", "cpu_cores_required": "1", "priority": "medium"}


LABELS = {
    "script_content": "Script",
    "script_path": "Path of the script",
    "cpu_cores_required": "Cores",
    "memory_mb_required": "Memory in MB",
    "timeout_seconds": "Time limit in seconds",
    "max_retries": "Retries",
    "retry_delay_seconds": "First retry after seconds",
    "retry_max_delay_seconds": "Longest wait before a retry",
    "schedule_expression": "Schedule",
    "schedule_type": "When",
    "start_date": "Start",
    "end_date": "End",
    "timezone": "Time zone",
}
_API_NAMES = re.compile(rf"\b({'|'.join(LABELS)})\b")


@dataclass(frozen=True, slots=True)
class Field:
    """One input. `errors` are sentences of the check."""

    name: str
    value: str
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JobForm:
    """`fields` by name; `elsewhere` are sentences about what this form has no input for."""

    fields: dict[str, Field]
    elsewhere: tuple[str, ...] = ()

    @property
    def faulty(self) -> list[Field]:
        return [field for field in self.fields.values() if field.errors]


def blank_form() -> JobForm:
    values = DEFAULTS | {"timezone": settings.DEFAULT_TIME_ZONE}
    return JobForm({name: Field(name, values.get(name, "")) for name in FIELDS})


def filled_form(posted: Mapping[str, str], problems: Iterable[Problem]) -> JobForm:
    """What was typed, with what is wrong beside it."""
    sentences: dict[str, list[str]] = {name: [] for name in FIELDS}
    elsewhere: list[str] = []
    for problem in problems:
        shown = _SHOWN_AT.get(problem.field, problem.field)
        sentences.get(shown, elsewhere).append(in_words(problem.sentence))
    fields = {name: Field(name, posted.get(name, ""), tuple(sentences[name])) for name in FIELDS}
    return JobForm(fields, tuple(elsewhere))


def in_words(sentence: str) -> str:
    """With the labels of the form where the check names the API's fields."""
    return _API_NAMES.sub(lambda found: LABELS[found[0]], sentence)


def job_input(posted: Mapping[str, str]) -> dict[str, Any]:
    """What the form says, as `actions.create_job` takes it. Inputs of a choice that was not made are left out."""
    runs = posted.get("runs", "")
    wanted = {name: posted.get(name, "") for name in (*TEXTS, runs if runs in RUNS else "script_content")}
    return raw_from_form(wanted | _timing(posted))


def timing_input(posted: Mapping[str, str]) -> dict[str, Any]:
    """The part of it that says when, as `actions.preview` takes it."""
    return raw_from_form(_timing(posted))


def _timing(posted: Mapping[str, str]) -> dict[str, str]:
    when = posted.get("when", "now")
    zone = {"timezone": posted.get("timezone", "")}
    if when == "at":
        return zone | {"schedule_type": "once", "start_date": posted.get("start_date", "")}
    if when in REPEATING:
        return {"schedule_type": when} | {name: posted.get(name, "") for name in TIMING}
    return {"schedule_type": "once"} if when in WHENS else {"schedule_type": when}


_SHOWN_AT = {"schedule_type": "when", "kind": "runs"}
