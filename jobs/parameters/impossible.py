"""Declarations that no value can satisfy: each run would be refused, and nobody could say what to give.

Bounds that leave nothing are refused as well where a value of another type would do: they are meant to leave some.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

from jobs.core.texts import shown
from jobs.parameters.checking import fault_of_value
from jobs.parameters.expected import types_of
from jobs.parameters.faults import Fault
from jobs.parameters.patterns import LONGEST_MATCHED, shortest_match

PAIRS = (
    ("minimum", "maximum"), ("minimum", "exclusiveMaximum"), ("exclusiveMinimum", "maximum"),
    ("exclusiveMinimum", "exclusiveMaximum"), ("minLength", "maxLength"), ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)  # fmt: skip


class _Bound(NamedTuple):
    """`words` say which it is, as in "its minimum of 5"."""

    at: float
    words: str
    exclusive: bool = False


def faults_of_bounds(name: str, where: str, schema: Mapping[str, Any]) -> Iterator[Fault]:
    """Bounds between which nothing lies. `where` begins a sentence; each keyword has a value that JSON Schema takes."""
    for sentence in (*_crossed(schema), *_no_number(schema), *_no_text(schema), *_no_list(schema), *_no_object(schema)):
        yield Fault(name, shown(schema), "what some value satisfies", f"{where} {sentence}")


def faults_of_choices(name: str, where: str, schema: Mapping[str, Any]) -> Iterator[Fault]:
    """An enum or a const that all else that is said refuses. Call it when nothing in the schema is wrong by itself."""
    if "const" in schema:
        rest = {keyword: value for keyword, value in schema.items() if keyword != "const"}
        if wrong := fault_of_value("const", rest, schema["const"]):
            yield Fault(name, wrong.given, wrong.expected, f"{where.removesuffix(',')}: its {wrong.sentence}")
    if "enum" in schema:
        rest = {keyword: value for keyword, value in schema.items() if keyword not in ("enum", "const")}
        wrongs = [fault_of_value("first", rest, choice) for choice in schema["enum"]]
        if all(wrongs) and (wrong := wrongs[0]):
            sentence = f"{where} has an enum of which no choice fits: its {wrong.sentence}"
            yield Fault(name, wrong.given, wrong.expected, sentence)


def _crossed(schema: Mapping[str, Any]) -> Iterator[str]:
    for least, most in PAIRS:
        if least not in schema or most not in schema:
            continue
        exclusive = least.startswith("exclusive") or most.startswith("exclusive")
        article, how = "an" if least.startswith("e") else "a", "not below" if exclusive else "above"
        if schema[least] > schema[most] or (exclusive and schema[least] == schema[most]):
            yield (
                f"has {article} {least} of {shown(schema[least])} {how} its {most} of {shown(schema[most])}, "
                "so nothing lies between them; change one of them."
            )


def _no_number(schema: Mapping[str, Any]) -> Iterator[str]:
    """Of those that are whole, or a multiple, if they have to be."""
    lower, upper = _bounds(schema, "minimum", "exclusiveMinimum"), _bounds(schema, "maximum", "exclusiveMaximum")
    is_whole = "integer" in types_of(schema) and "number" not in types_of(schema)
    if not lower or not upper or not (is_whole or "multipleOf" in schema):
        return
    least = max(lower, key=lambda one: (one.at, one.exclusive))
    most = min(upper, key=lambda one: (one.at, not one.exclusive))
    of = _exact(schema.get("multipleOf", 1))
    step = Fraction(of.numerator) if is_whole else of
    first = ceil(_exact(least.at) / step) * step
    if least.exclusive and first == _exact(least.at):
        first += step
    if first > _exact(most.at) or (most.exclusive and first == _exact(most.at)):
        lacking = "whole number" if is_whole else "number"
        multiple = f" that is a multiple of {shown(schema['multipleOf'])}" if "multipleOf" in schema else ""
        yield f"has no {lacking}{multiple} between {least.words} and {most.words}; change one of them."


def _bounds(schema: Mapping[str, Any], plain: str, exclusive: str) -> list[_Bound]:
    return [
        _Bound(schema[keyword], f"its {keyword} of {shown(schema[keyword])}", keyword == exclusive)
        for keyword in (plain, exclusive)
        if keyword in schema
    ]


def _exact(number: float) -> Fraction:
    """As it is written: 0.1 is a tenth."""
    return Fraction(repr(number))


def _no_text(schema: Mapping[str, Any]) -> Iterator[str]:
    """A text that has a pattern is bounded by itself, and the pattern asks for so many characters."""
    if "pattern" not in schema:
        return
    shortest = shortest_match(schema["pattern"])
    longest = min(schema.get("maxLength", LONGEST_MATCHED), LONGEST_MATCHED)
    most = f"the {longest} that a text with a pattern may have"
    if longest == schema.get("maxLength"):
        most = f"its maxLength of {longest}"
    if shortest > longest:
        yield f"has a pattern that takes {shortest} characters or more, above {most}; change one of them."
    elif schema.get("minLength", 0) > LONGEST_MATCHED:
        yield f"has a minLength of {schema['minLength']}, above {most}; change one of them."


def _no_list(schema: Mapping[str, Any]) -> Iterator[str]:
    choices = schema["items"].get("enum") if isinstance(schema.get("items"), Mapping) else None
    least = schema.get("minItems", 0)
    if schema.get("uniqueItems") and isinstance(choices, list) and 0 < len(choices) < least:
        yield f"has a minItems of {least}, above the {len(choices)} choices of its items, of which each may come once."


def _no_object(schema: Mapping[str, Any]) -> Iterator[str]:
    required, most = set(schema.get("required", ())), schema.get("maxProperties")
    if most is not None and len(required) > most:
        yield f"requires {len(required)} names, above its maxProperties of {most}; change one of them."
    if schema.get("additionalProperties", True) is not False:
        return
    known = schema.get("properties", {})
    if lacking := sorted(required - set(known)):
        yield f"requires {shown(lacking[0])}, which it does not take; declare it in its properties, or leave it out."
    elif schema.get("minProperties", 0) > len(known):
        yield f"has a minProperties of {schema['minProperties']}, but takes no more than {len(known)} names."
