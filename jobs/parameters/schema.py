"""Which JSON Schemas a job may declare: an object whose properties are its parameters.

Less than all of JSON Schema, so that each parameter can be a field of a form and each refusal names one: no references,
no combinations of schemas. docs/parameters.md lists what there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from jobs.core.near import did_you_mean
from jobs.core.texts import UNPRINTABLE, shown
from jobs.execution.parameters import variable_of
from jobs.parameters.checking import fault_of_value, json_bytes, unstorable
from jobs.parameters.expected import TYPES
from jobs.parameters.faults import Fault, InvalidParameters
from jobs.parameters.formats import FORMATS
from jobs.parameters.impossible import faults_of_bounds, faults_of_choices
from jobs.parameters.patterns import fault_of_pattern

MOST_PARAMETERS = 100
LONGEST_NAME = 100
LARGEST_SCHEMA = 100_000  # bytes of its JSON
DEEPEST_SCHEMA = 6  # levels of items and properties

ABOUT = ("title", "description")
WHOLE = ("$schema", "type", *ABOUT, "properties", "required", "additionalProperties")
KEYWORDS = (
    "type", "enum", "const", "default", "format", "examples", *ABOUT, "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "items", "minItems", "maxItems",
    "uniqueItems", "properties", "required", "additionalProperties", "minProperties", "maxProperties",
)  # fmt: skip
DRAFT = "https://json-schema.org/draft/2020-12/schema"


def check_schema(schema: object) -> dict[str, Any]:
    """The schema, as it is given, if a job may declare it; {} takes no parameters. Raises InvalidParameters."""
    if not isinstance(schema, Mapping):
        raise _refused(
            "", schema, "a JSON Schema", f"parameters is {shown(schema)}, expected a JSON Schema, an object."
        )
    if why := unstorable(schema):
        raise _refused("", schema, "a JSON Schema", f"The schema of parameters contains {why}; remove it.")
    if (size := json_bytes(schema)) > LARGEST_SCHEMA:
        sentence = f"The schema of parameters has {size:,} bytes, expected at most {LARGEST_SCHEMA:,}."
        raise _refused("", schema, f"at most {LARGEST_SCHEMA:,} bytes", sentence)
    if faults := list(_faults_of_whole(schema)):
        raise InvalidParameters(faults)
    return dict(schema)


def properties_of(schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The declared parameters by name."""
    return dict(schema.get("properties", {}))


def takes_any(schema: Mapping[str, Any]) -> bool:
    """Whether there is anything that a run could be told."""
    return bool(schema.get("properties") or schema.get("additionalProperties"))


def is_required(schema: Mapping[str, Any], name: str) -> bool:
    """Whether a run must say its value, since nothing else does."""
    return name in schema.get("required", ()) and "default" not in schema.get("properties", {}).get(name, {})


def _faults_of_whole(schema: Mapping[str, Any]) -> Iterator[Fault]:
    if schema and schema.get("type", "object") != "object":
        expected = 'type "object", with the parameters as its properties'
        yield Fault(
            "", shown(schema["type"]), expected, f"parameters has type {shown(schema['type'])}, expected {expected}."
        )
        return
    if schema.get("$schema", DRAFT).rstrip("#") != DRAFT if isinstance(schema.get("$schema", ""), str) else True:
        yield Fault("", shown(schema["$schema"]), DRAFT, f"$schema is {shown(schema['$schema'])}, expected {DRAFT}.")
        return
    yield from _unknown("", "parameters", schema, WHOLE)
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        yield Fault("", shown(properties), "an object", f"properties is {shown(properties)}, expected an object.")
        return
    if len(properties) > MOST_PARAMETERS:
        sentence = (
            f"There are {len(properties):,} parameters, expected at most {MOST_PARAMETERS}; put some into one object."
        )
        yield Fault("", f"{len(properties)} parameters", f"at most {MOST_PARAMETERS}", sentence)
        return
    faults = [fault for name in properties if (fault := _fault_of_name(name))]
    yield from faults or _clashes(properties)
    for name, one in properties.items():
        if fault := next(_faults_of(name, f"The parameter {shown(name)[1:-1]}", one, 1), None):
            yield fault
            faults.append(fault)
    others = schema.get("additionalProperties", False)
    if not isinstance(others, bool) and (fault := next(_faults_of("", "additionalProperties", others, 1), None)):
        yield fault
        faults.append(fault)
    if not faults:
        yield from _faults_of_required(schema, properties)


def _faults_of_required(schema: Mapping[str, Any], properties: Mapping[str, Any]) -> Iterator[Fault]:
    if (fault := _malformed("", "parameters", schema)) is not None:
        yield fault
        return
    for name in schema.get("required", ()):
        if name not in properties:
            sentence = (
                f"required names {shown(name)}, which is no parameter; declare it in properties, or leave it out."
            )
            yield Fault("", shown(name), "a name in properties", sentence)


def _fault_of_name(name: str) -> Fault | None:
    expected = f"1 to {LONGEST_NAME} printable characters without blanks at the ends"
    if name and name == name.strip() and len(name) <= LONGEST_NAME and not UNPRINTABLE.search(name):
        return None
    sentence = f"A parameter is named {shown(name)}, expected {expected}; rename it."
    return Fault("", shown(name), expected, sentence)


def _clashes(properties: Mapping[str, Any]) -> Iterator[Fault]:
    """Scripts find each parameter in a variable of its own."""
    first: dict[str, str] = {}
    for name in properties:
        other = first.setdefault(variable_of(name), name)
        if other != name:
            sentence = f"{other} and {name} would both be in the variable {variable_of(name)}; rename one of them."
            yield Fault(name, shown(name), "another name", sentence)


def _faults_of(name: str, where: str, schema: object, depth: int) -> Iterator[Fault]:
    """Of one parameter, or of a part of it; `where` begins a sentence. What comes later is only said of what is right
    up to there.
    """
    if not isinstance(schema, Mapping):
        yield Fault(name, shown(schema), "a schema", f"{where} is {shown(schema)}, expected a JSON Schema, an object.")
        return
    if depth > DEEPEST_SCHEMA:
        sentence = f"{where} lies deeper than {DEEPEST_SCHEMA} levels; take a plainer one, such as any object."
        yield Fault(name, shown(schema), f"at most {DEEPEST_SCHEMA} levels", sentence)
        return
    yield from _unknown(name, where, schema, KEYWORDS)
    yield from _faults_of_type(name, where, schema)
    if fault := _malformed(name, where, schema):
        yield fault
        return
    yield from faults_of_bounds(name, where, schema)
    if "items" in schema:
        yield from _faults_of(name, _inside(where, "items"), schema["items"], depth + 1)
    for inner, one in schema.get("properties", {}).items():
        yield from _faults_of(name, _inside(where, shown(inner)), one, depth + 1)
    if not isinstance(others := schema.get("additionalProperties", True), bool):
        yield from _faults_of(name, _inside(where, "additionalProperties"), others, depth + 1)
    yield from faults_of_choices(name, where, schema)
    if "default" in schema and (wrong := fault_of_value("default", schema, schema["default"])):
        yield Fault(name, wrong.given, wrong.expected, f"{where.removesuffix(',')}: its {wrong.sentence}")


def _inside(where: str, part: str) -> str:
    return f"{where.removesuffix(',')}, in {part},"


def _faults_of_type(name: str, where: str, schema: Mapping[str, Any]) -> Iterator[Fault]:
    named = schema.get("type", [])
    for one in [named] if not isinstance(named, list) else named:
        if not isinstance(one, str) or one not in TYPES:
            expected = f"one of {', '.join(TYPES)}"
            yield Fault(name, shown(one), expected, f"{where} has type {shown(one)}, expected {expected}.")
    if "format" in schema and (not isinstance(schema["format"], str) or schema["format"] not in FORMATS):
        expected = f"one of {', '.join(FORMATS)}"
        sentence = f"{where} has format {shown(schema['format'])}, expected {expected}."
        yield Fault(name, shown(schema["format"]), expected, sentence)
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and (why := fault_of_pattern(pattern)):
        yield Fault(name, shown(pattern), "another pattern", f"{where} has the pattern {shown(pattern)} {why}.")


def _malformed(name: str, where: str, schema: Mapping[str, Any]) -> Fault | None:
    """A keyword that has another value than JSON Schema gives it, such as a negative length, or no choices."""
    if schema.get("enum") == []:
        return Fault(name, "[]", "one choice or more", f"{where} has an enum without choices; give some.")
    try:
        Draft202012Validator.check_schema(_without_inner(schema))
    except SchemaError as error:
        keyword = next((str(step) for step in error.absolute_path), "schema")
        sentence = f"{where} has a wrong {keyword}: {shown(error.message)[1:-1]}."
        return Fault(name, shown(schema.get(keyword)), "a JSON Schema", sentence)
    return None


def _without_inner(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What is within has its own turn, and names itself."""
    empty: dict[str, Any] = {
        keyword: {} for keyword in ("items", "additionalProperties") if isinstance(schema.get(keyword), Mapping)
    }
    if isinstance(schema.get("properties"), Mapping):
        empty["properties"] = {}
    return {**schema, **empty}


def _unknown(name: str, where: str, schema: Mapping[str, Any], known: tuple[str, ...]) -> Iterator[Fault]:
    for keyword in schema:
        if keyword not in known:
            hint = did_you_mean(keyword, known, f"known are {', '.join(known)}.")
            sentence = f"{where} has {shown(keyword)}, which is not taken here; {hint}"
            yield Fault(name, shown(keyword), "a known keyword", sentence)


def _refused(name: str, given: object, expected: str, sentence: str) -> InvalidParameters:
    return InvalidParameters([Fault(name, shown(given), expected, sentence)])
