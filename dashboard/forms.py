"""The form of a job: what was typed, kept as it was typed, and what the check said about each field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from jobs.actions import InvalidInput, Problem
from jobs.actions.bodies import MASK
from jobs.actions.definition import FIELD_OF_KIND, raw_of, spec_of
from jobs.actions.forms import environment_text, raw_from_form
from jobs.models import Job

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
    """`fields` by name; `elsewhere` are sentences about what this form has no input for.

    `revision`: that of the job which it shows; empty for a new one.
    """

    fields: dict[str, Field]
    elsewhere: tuple[str, ...] = ()
    revision: str = ""

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
    return JobForm(fields, tuple(elsewhere), posted.get("revision", ""))


def edit_form(job: Job) -> JobForm:
    """The job as it is stored; the values of its variables are masked, for they may be secrets."""
    texts = stored_texts(job)
    return JobForm({name: Field(name, texts[name]) for name in FIELDS}, revision=str(job.revision))


def in_words(sentence: str) -> str:
    """With the labels of the form where the check names the API's fields."""
    return _API_NAMES.sub(lambda found: LABELS[found[0]], sentence)


def job_input(posted: Mapping[str, str]) -> dict[str, Any]:
    """What the form says, as `actions.create_job` takes it. Inputs of a choice that was not made are left out."""
    runs = posted.get("runs", "")
    wanted = {name: posted.get(name, "") for name in (*TEXTS, runs if runs in RUNS else "script_content")}
    return raw_from_form(wanted | _timing(posted))


def job_patch(posted: Mapping[str, str], stored: Mapping[str, str]) -> dict[str, Any]:
    """What was changed of `stored_texts`, as `actions.change_job` takes it.

    What was left as it was shown is left out: a browser's line breaks or a rounded number must not become an edit.
    """
    new = {name: posted.get(name, stored[name]) for name in FIELDS}
    changed = {name for name in FIELDS if _plain(new[name]) != _plain(stored[name])}
    patch = {name: new[name] for name in TEXTS if name in changed}
    if {"runs", new["runs"]} & changed:
        # Who empties it is told so, instead of keeping what was there.
        patch |= dict.fromkeys(RUNS, "") | {new["runs"]: new.get(new["runs"], "")}
    if {"when", *TIMING} & changed:
        patch |= dict.fromkeys(TIMING, "") | _timing(new)
    return raw_from_form(patch)


def check_when(posted: Mapping[str, str]) -> None:
    """Raises InvalidInput for a moment that is asked for and not given: an edit would make it "by hand" unseen."""
    if posted.get("when") == "at" and not posted.get("start_date", "").strip():
        sentence = 'Start is blank, expected a date or a moment; give one, or choose "By hand only".'
        raise InvalidInput([Problem("start_date", "", "a date or a moment", sentence)])


def revision_in(posted: Mapping[str, str]) -> int:
    """Of the job that the form showed; one that no job has, and so refused, where the form does not say it."""
    given = posted.get("revision", "")
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else 0


def stored_texts(job: Job) -> dict[str, str]:
    """The stored job as the texts of this form, by name."""
    raw = raw_of(spec_of(job, getattr(job, "schedule", None)))
    when = raw["schedule_type"] if raw["schedule_type"] != "once" else "at" if raw["start_date"] else "by_hand"
    raw |= {
        "runs": FIELD_OF_KIND[job.kind],
        "when": when,
        "tags": ", ".join(raw["tags"]),
        "environment": environment_text(dict.fromkeys(raw["environment"], MASK)),
        "timezone": raw["timezone"] or settings.DEFAULT_TIME_ZONE,
        "priority": Job.Priority(job.priority).label,
        "memory_mb_required": raw["memory_mb_required"] or None,
    }
    return {name: _text_of(raw[name]) for name in FIELDS}


def timing_input(posted: Mapping[str, str]) -> dict[str, Any]:
    """The part of it that says when, as `actions.preview` takes it."""
    return raw_from_form(_timing(posted))


def _text_of(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    return "" if value is None else str(value)


def _plain(text: str) -> str:
    """As a text area gives it back: its lines end alike."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _timing(posted: Mapping[str, str]) -> dict[str, str]:
    when = posted.get("when", "now")
    zone = {"timezone": posted.get("timezone", "")}
    if when == "at":
        return zone | {"schedule_type": "once", "start_date": posted.get("start_date", "")}
    if when in REPEATING:
        return {"schedule_type": when} | {name: posted.get(name, "") for name in TIMING}
    return {"schedule_type": "once"} if when in WHENS else {"schedule_type": when}


_SHOWN_AT = {"schedule_type": "when", "kind": "runs"}
