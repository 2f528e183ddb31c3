"""The parameters of a job as fields of a form: one each, by the kind of its value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jobs.actions import Problem
from jobs.core.texts import shown
from jobs.execution.parameters import text_of
from jobs.given import recorded
from jobs.models import Attempt, Instance, Job
from jobs.parameters.expected import ANYTHING, expected_of, types_of
from jobs.parameters.masking import masked
from jobs.parameters.schema import is_required, properties_of
from jobs.parameters.values import defaults_of
from jobs.parameters.written import written

PREFIX = "parameter:"  # before the name, in the name of the input
MORE = "parameters-more"
MOST_SHOWN = 2000  # characters of a value
LONG_TEXT = 200  # characters that may be in it, from which on a text has lines
INPUT_TYPES = {"date": "date", "email": "email", "uri": "url"}
EXAMPLES = {"date-time": "2026-11-30T08:00:00Z", "time": "08:30", "email": "ops@example.org",
            "uri": "https://example.org/"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ParameterField:
    """One input. `widget`: input, area, json or select. `choices`: the texts that a select sends, and its words.

    `value` is the text in it; `type`, `least`, `most` and `step` are the attributes of an input.
    """

    name: str
    input_name: str
    label: str
    widget: str
    value: str
    required: bool
    hint: str = ""
    expected: str = ""
    type: str = "text"
    least: Any = None
    most: Any = None
    step: Any = None
    example: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    errors: tuple[str, ...] = ()


def parameter_fields(
    schema: Mapping[str, Any],
    values: Mapping[str, Any],
    *,
    posted: Mapping[str, str] | None = None,
    problems: Iterable[Problem] = (),
) -> list[ParameterField]:
    """In the order of the schema, filled with `values`, or with what was `posted`; with what is wrong beside it.

    `problems` are those whose field ends in the parameter's name, such as parameters.limit.
    """
    errors: dict[str, tuple[str, ...]] = {}
    for problem in problems:
        name = problem.field.partition(".")[2]
        errors[name] = (*errors.get(name, ()), problem.sentence)
    return list(_fields(schema, values, posted or {}, errors))


@dataclass(frozen=True, slots=True)
class Shown:
    """`cut`: characters that were left out at the end of `text`."""

    name: str
    text: str
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """A parameter of a job: what it takes, what an instance gets that is told nothing. `required`: it must be told."""

    name: str
    words: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class RunParameters:
    """The values of an instance; `sentence` instead of them where nobody knows them (yet)."""

    values: tuple[Shown, ...]
    sentence: str = ""


def in_words(job: Job) -> tuple[Taken, ...]:
    values = masked({**defaults_of(job.parameters), **job.parameter_values})
    return tuple(_taken(job.parameters, name, values) for name in properties_of(job.parameters))


def _taken(schema: Mapping[str, Any], name: str, values: Mapping[str, Any]) -> Taken:
    words = expected_of(properties_of(schema)[name])
    if name in values:
        return Taken(name, f"{words}; {shown(values[name])} unless given")
    return Taken(name, words, required=is_required(schema, name))


def parameters_of(instance: Instance, attempt: Attempt | None) -> RunParameters | None:
    """What an attempt of it was given, else what it will get; None where its job takes no parameters."""
    values = instance.parameter_values
    if values is None and not instance.job.parameters:
        return None
    if values is None and attempt is not None:
        values = recorded(attempt)
    if values is None:
        gone = "What it was given is not known any more: its run directory is gone."
        return RunParameters((), gone if attempt else "It gets what its job says when it starts.")
    return RunParameters(tuple(_shown(name, value) for name, value in masked(values).items()))


def _shown(name: str, value: Any) -> Shown:
    text = text_of(value)
    return Shown(name, text[:MOST_SHOWN], max(0, len(text) - MOST_SHOWN))


def text_in_field(schema: Mapping[str, Any], value: Any) -> str:
    """The value as its field shows it."""
    widget = widget_of(schema, value)
    if widget == "select":
        return json.dumps(value, ensure_ascii=False)
    if widget == "json" or not isinstance(value, str):
        return "" if value is None and widget != "json" else written(value)
    return value


def widget_of(schema: Mapping[str, Any], value: Any = None) -> str:
    kinds = [kind for kind in types_of(schema) if kind != "null"]
    if "enum" in schema or "const" in schema or kinds == ["boolean"]:
        return "select"
    if kinds in (["integer"], ["number"]):
        return "input"
    if kinds != ["string"]:
        return "json"
    long = schema.get("maxLength", 0) > LONG_TEXT or "\n" in str(value) or "\r" in str(value)
    return "area" if long and "format" not in schema else "input"


def _fields(
    schema: Mapping[str, Any],
    values: Mapping[str, Any],
    posted: Mapping[str, str],
    errors: Mapping[str, tuple[str, ...]],
) -> Iterator[ParameterField]:
    declared = properties_of(schema)
    for name, one in declared.items():
        has_value, value = name in values, values.get(name)
        shown = posted.get(PREFIX + name, text_in_field(one, value) if has_value else "")
        yield _field(name, one, shown, has_value, is_required(schema, name), errors.get(name, ()))
    if schema.get("additionalProperties"):
        rest = {name: value for name, value in values.items() if name not in declared}
        more = tuple(sentence for name, said in errors.items() if name not in declared for sentence in said)
        text = posted.get(MORE, written(rest) if rest else "")
        yield ParameterField("", MORE, "Further parameters", "json", text, False, "An object of JSON.", errors=more)


def _field(
    name: str, schema: Mapping[str, Any], shown: str, has_value: bool, required: bool, errors: tuple[str, ...]
) -> ParameterField:
    kinds = [kind for kind in types_of(schema) if kind != "null"]
    is_number = kinds in (["integer"], ["number"])
    form = schema.get("format", "")
    return ParameterField(
        name=name,
        input_name=PREFIX + name,
        label=schema.get("title") or name,
        widget="area" if "\n" in shown and widget_of(schema) == "input" else widget_of(schema, shown),
        value=shown,
        required=required,
        hint=schema.get("description", ""),
        expected=_expected(schema),
        type="number" if is_number else INPUT_TYPES.get(form, "text"),
        least=schema.get("minimum"),
        most=schema.get("maximum"),
        step=schema.get("multipleOf", 1 if kinds == ["integer"] else "any") if is_number else None,
        example=EXAMPLES.get(form, ""),
        choices=tuple(_choices(schema, required and has_value)),
        errors=errors,
    )


def _choices(schema: Mapping[str, Any], is_said: bool) -> Iterator[tuple[str, str]]:
    if widget_of(schema) != "select":
        return
    if not is_said and "const" not in schema:
        yield "", "not said"
    values = [schema["const"]] if "const" in schema else schema.get("enum", [True, False])
    if "enum" not in schema and "null" in types_of(schema):
        values = [*values, None]
    words = {True: "yes", False: "no"} if "enum" not in schema and "const" not in schema else {}
    for value in values:
        is_flag = isinstance(value, bool) and value in words
        text = json.dumps(value, ensure_ascii=False)
        yield text, words[value] if is_flag else "none" if value is None else value if isinstance(value, str) else text


def _expected(schema: Mapping[str, Any]) -> str:
    """What the kind of the input does not say by itself."""
    if widget_of(schema) == "select" or schema.get("format") == "date":
        return ""
    said = expected_of(schema)
    if widget_of(schema) == "json":
        return f"JSON: {said.replace(ANYTHING, 'any', 1)}."
    return "" if said in ("a text", "a number", "a whole number") else f"{said[:1].upper()}{said[1:]}."
