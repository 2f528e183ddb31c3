"""The form of a job: what was typed, kept as it was typed, and what the check said about each field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from dashboard.formfields import (
    BLANK,
    DEFAULTS,
    ELAPSED,
    FIELDS,
    FOLDS,
    LISTS,
    OPTIONS,
    REPEATING,
    RUNS,
    TEXTS,
    TIMING,
    UPSTREAMS,
    WHENS,
)
from dashboard.merging import Clash, merged, seen_of
from jobs.actions import InvalidInput, Problem
from jobs.actions.bodies import LONGEST_BODY, MASK
from jobs.actions.callables import OF_A_PROCESS
from jobs.actions.definition import FIELD_OF_KIND, default_retries, raw_of, spec_of
from jobs.actions.forms import environment_text, lines_alike, raw_from_form
from jobs.actions.grants import text_of_uses
from jobs.actions.timing import TO_COME
from jobs.labels import LABELS, in_words
from jobs.models import Job
from jobs.parameters.masking import masked
from jobs.parameters.written import written
from jobs.store.workflows import names_of

NOT_GIVEN = "not given"  # what neither a moment nor a list of jobs can be


@dataclass(frozen=True, slots=True)
class Field:
    """One input. `errors` are sentences of the check."""

    name: str
    value: str
    errors: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return LABELS[self.name]


@dataclass(frozen=True, slots=True)
class JobForm:
    """`fields` by name; `elsewhere` are sentences about what this form has no input for.

    `problems`: all of them, as the check has them. `revision`: that of the job which it shows; empty for a new one.
    `seen`: what it showed of it, as `seen_of` says.
    """

    fields: dict[str, Field]
    elsewhere: tuple[str, ...] = ()
    revision: str = ""
    seen: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def faulty(self) -> list[Field]:
        return [field for field in self.fields.values() if field.errors]

    def folds_with(self, clashes: Iterable[Clash] = ()) -> list[str]:
        """Those with something to look at."""
        noted = {field.name for field in self.faulty} | {clash.name for clash in clashes}
        return [fold for fold, names in FOLDS.items() if noted & set(names)]


def blank_form() -> JobForm:
    values = DEFAULTS | {"timezone": settings.DEFAULT_TIME_ZONE}
    return JobForm({name: Field(name, values.get(name, "")) for name in FIELDS})


def filled_form(posted: Mapping[str, str], problems: Iterable[Problem]) -> JobForm:
    """What was typed, with what is wrong beside it."""
    sentences: dict[str, list[str]] = {name: [] for name in FIELDS}
    elsewhere: list[str] = []
    told = tuple(problems)
    for problem in told:
        shown = _shown_at(problem.field, posted)
        sentences.get(shown, elsewhere).append(_sentence(problem, shown, posted))
    fields = {name: Field(name, posted.get(name, ""), tuple(sentences[name])) for name in FIELDS}
    return JobForm(fields, tuple(elsewhere), posted.get("revision", ""), posted.get("seen", ""), told)


def edit_form(job: Job) -> JobForm:
    """The job as it is stored; the values of its variables are masked, for they may be secrets."""
    texts = stored_texts(job)
    fields = {name: Field(name, texts[name]) for name in FIELDS}
    return JobForm(fields, revision=str(job.revision), seen=seen_of(texts))


def merged_form(posted: Mapping[str, str], job: Job) -> tuple[JobForm, list[Clash]]:
    """The job as it is now with what was typed into a form that showed it as it was, and what others changed meanwhile.

    What both changed stays as it was typed. The form has the job's revision: sent again it stores what it shows.
    """
    stored = stored_texts(job)
    texts, clashes = merged(posted, stored, LABELS)
    said = [replace(one, theirs=RUNS.get(one.theirs) or WHENS.get(one.theirs) or one.theirs) for one in clashes]
    fields = {name: Field(name, text) for name, text in texts.items()}
    return JobForm(fields, revision=str(job.revision), seen=seen_of(stored)), said


def job_input(posted: Mapping[str, str]) -> dict[str, Any]:
    """What the form says, as `actions.create_job` takes it. Inputs of a choice that was not made are left out."""
    runs = posted.get("runs", "")
    wanted = {name: posted.get(name, "") for name in (*TEXTS, runs if runs in RUNS else "script_content")}
    return _asked(raw_from_form(wanted | _timing(posted) | _upstreams(posted)), posted)


def job_patch(posted: Mapping[str, str], stored: Mapping[str, str]) -> dict[str, Any]:
    """What was changed of `stored_texts`, as `actions.change_job` takes it.

    What was left as it was shown is left out: a browser's line breaks or a rounded number must not become an edit.
    """
    new = {name: posted.get(name, stored[name]) for name in FIELDS}
    if new["when"] != "after":
        new["depends_on"] = ""
    if new["runs"] == "callable":
        # What is not asked for a callable must not stay from what ran before, or from before it shared its process.
        not_asked = ("python_version", "requirements", *OF_A_PROCESS)
        new |= {name: DEFAULTS.get(name, "") for name in not_asked if name not in posted}
    changed = {name for name in FIELDS if lines_alike(new[name]) != lines_alike(stored[name])}
    patch = {name: new[name] for name in (*TEXTS, *UPSTREAMS) if name in changed}
    if {"runs", new["runs"]} & changed:
        # Who empties it is told so, instead of keeping what was there.
        patch |= dict.fromkeys(RUNS, "") | {new["runs"]: new.get(new["runs"], "")}
    if "callable" in patch and new["runs"] == "callable":
        patch["parameter_values"] = new["parameter_values"]  # of another one, even if they read the same
    if {"when", *TIMING} & changed:
        patch |= dict.fromkeys(TIMING, "") | _timing(new)
    return _asked(raw_from_form(patch), new) if patch else {}


def uploaded_text(name: str, content: bytes) -> str:
    """The script in a file. Raises InvalidInput with what is wrong with it."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        sentence = (
            f"{name[:100]} is not UTF-8 text (byte 0x{content[error.start]:02X} in line {line}); save it as UTF-8, "
            "or put it on the node and give its path."
        )
        raise InvalidInput([Problem("script_content", "", "UTF-8 text", sentence)]) from error


def too_large(name: str, size: int) -> InvalidInput:
    sentence = (
        f"{name[:100]} has {size:,} bytes, and a script at most {LONGEST_BODY['script_content']:,} characters; "
        "put it on the node and give its path."
    )
    return InvalidInput([Problem("script_content", "", "a smaller file", sentence)])


def revision_in(posted: Mapping[str, str]) -> int:
    """Of the job that the form showed; one that no job has, and so refused, where the form does not say it."""
    given = posted.get("revision", "")
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else 0


def stored_texts(job: Job) -> dict[str, str]:
    """The stored job as the texts of this form, by name."""
    raw = raw_of(spec_of(job, getattr(job, "schedule", None)))
    when = raw["schedule_type"] if raw["schedule_type"] != "once" else "at" if raw["start_date"] else "by_hand"
    when = "after" if raw["depends_on"] else when
    names = names_of(raw["depends_on"])
    usual_retries = default_retries(raw["schedule_type"], waits=when == "after")
    raw |= {
        "runs": FIELD_OF_KIND[job.kind],
        "when": when,
        "depends_on": "\n".join(names[upstream] for upstream in raw["depends_on"] if upstream in names),
        **{name: ", ".join(map(str, raw[name])) for name in LISTS},
        "requirements": "\n".join(raw["requirements"]),
        "environment": environment_text(dict.fromkeys(raw["environment"], MASK)),
        "parameters": written(raw["parameters"]) if raw["parameters"] else "",
        "parameter_values": written(masked(raw["parameter_values"])) if raw["parameter_values"] else "",
        "secrets": text_of_uses(raw["secrets"]),
        "timezone": raw["timezone"] or settings.DEFAULT_TIME_ZONE,
        "priority": Job.Priority(job.priority).label,
        "memory_mb_required": raw["memory_mb_required"] or None,
        # As good as not said: it goes with the type of schedule.
        "max_retries": None if job.max_retries == usual_retries else job.max_retries,
        "retry_jitter": "yes" if job.retry_jitter else "no",
        "keep_workspace": {None: "", True: "yes", False: "no"}[job.keep_workspace],
        "first_at_once": "yes" if raw["first_at_once"] else "no",
    }
    return {name: _text_of(raw[name]) for name in FIELDS}


def timing_input(posted: Mapping[str, str]) -> dict[str, Any]:
    """The part of it that says when, as `actions.preview` takes it."""
    return raw_from_form(_timing(posted))


def _asked(raw: dict[str, Any], posted: Mapping[str, str]) -> dict[str, Any]:
    """What is asked for and not given is refused with all else: left out it would mean "now", or "by hand", unseen."""
    if posted.get("when") == "at" and not posted.get("start_date", "").strip():
        raw["start_date"] = NOT_GIVEN
    if posted.get("when") == "after" and not posted.get("depends_on", "").strip():
        raw["depends_on"] = NOT_GIVEN
    return raw


def _text_of(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    return "" if value is None else str(value)


def _upstreams(posted: Mapping[str, str]) -> dict[str, str]:
    """Only of a job that is to run after others."""
    return {name: posted.get(name, "") for name in UPSTREAMS} if posted.get("when") == "after" else {}


def _timing(posted: Mapping[str, str]) -> dict[str, str]:
    when = posted.get("when", "now")
    zone = {"timezone": posted.get("timezone", "")}
    if when == "at":
        return zone | {"schedule_type": "once", "start_date": posted.get("start_date", "")} | _options(posted, when)
    if when in REPEATING:
        given = {name: posted.get(name, "") for name in TIMING if name not in OPTIONS}
        return {"schedule_type": when} | given | _options(posted, when)
    return {"schedule_type": "once"} if when in WHENS else {"schedule_type": when}


def _options(posted: Mapping[str, str], when: str) -> dict[str, str]:
    """Without those whose inputs are hidden, whatever is in them."""
    hidden = ("gap", "fold") if when in ELAPSED else ("first_at_once",)
    return {name: posted.get(name, "") for name in OPTIONS if name not in hidden}


def _shown_at(field: str, posted: Mapping[str, str]) -> str:
    """The form sends one body, so what is wrong with any is wrong with that one."""
    if field in RUNS and posted.get("runs") in RUNS:
        return posted["runs"]
    return {"schedule_type": "when", "kind": "runs"}.get(field, field.partition(".")[0])  # parameter_values.limit


def _sentence(problem: Problem, shown: str, posted: Mapping[str, str]) -> str:
    if shown == "start_date" and posted.get("when") == "at" and not posted.get("start_date", "").strip():
        instead = WHENS["by_hand" if posted.get("revision") else "now"]
        return f'Start is blank, expected a date or a moment; give one, or choose "{instead}".'
    if shown == "depends_on" and not posted.get("depends_on", "").strip():
        return f'Upstreams is blank; name the jobs that it waits for, or choose "{WHENS["by_hand"]}".'
    if shown in BLANK and not posted.get(shown, "").strip():
        return BLANK[shown]
    if problem.field == "start_date" and problem.expected == TO_COME and posted.get("when") == "at":
        then = 'choose "By hand only" and run it from its page' if posted.get("revision") else 'choose "Now"'
        return f"{posted.get('start_date', '').strip()} has passed; give a moment to come, or {then}."
    return in_words(problem.sentence)
