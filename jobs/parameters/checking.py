"""Holds one value against one schema, by jsonschema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import isfinite
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from jobs.core.texts import fault_of, shown, texts_in
from jobs.execution.masking import SECRET_NAME
from jobs.parameters.expected import expected_of
from jobs.parameters.faults import Fault
from jobs.parameters.formats import FORMATS
from jobs.parameters.patterns import LONGEST_MATCHED, matches

DEEPEST_VALUE = 32
LARGEST_NUMBER = 2**63
HIDDEN = "(not repeated, it may be secret)"


def fault_of_value(name: str, schema: Mapping[str, Any], value: object) -> Fault | None:
    """The first thing that is wrong with the value of a parameter."""
    if why := unstorable(value):
        return refusal(name, value, "a value without it", f"{name} contains {why}; remove it.")
    found = next(validator_of(schema).iter_errors(value), None)
    return None if found is None else _fault(name, found)


def validator_of(schema: Mapping[str, Any]) -> Draft202012Validator:
    validator: Draft202012Validator = _Validator(schema)
    return validator


def refusal(name: str, given: object, expected: str, sentence: str) -> Fault:
    return Fault(name, told(name, given), expected, sentence)


def told(where: str, value: object) -> str:
    """The value as a sentence may repeat it."""
    names = [where, *(key for one in _all_in(value) if isinstance(one, Mapping) for key in one)]
    return HIDDEN if any(map(SECRET_NAME.search, names)) else shown(value)


def unstorable(value: object) -> str:
    """What is in it that no database, file or variable takes, in words."""
    if _depth(value) > DEEPEST_VALUE:
        return f"more than {DEEPEST_VALUE} levels of lists and objects"
    for text in texts_in(value):
        if fault := fault_of(text, lines=True):
            return fault
    for number in _all_in(value):
        if isinstance(number, float) and not isfinite(number):
            return f"{number}, which is no number of JSON"
        if isinstance(number, int) and not -LARGEST_NUMBER <= number < LARGEST_NUMBER:
            return "a whole number of more than 64 bits"
    return ""


def _fault(name: str, error: ValidationError) -> Fault:
    given: Any = error.instance
    schema: Mapping[str, Any] = error.schema  # type: ignore[assignment]  # the schemas true and false are refused
    where = name + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    if error.validator == "required":
        lacking = shown(next(key for key in schema["required"] if key not in given))
        return refusal(name, given, f"an object with {lacking}", f"{where} lacks {lacking}; give it.")
    if error.validator == "additionalProperties":
        known = schema.get("properties", {})
        strange = shown(next(key for key in given if key not in known))
        sentence = f"{where} has {strange}, but takes {', '.join(map(shown, known)) or 'none'}; leave it out."
        return refusal(name, given, "no other names", sentence)
    expected, is_long = expected_of(schema), False
    if isinstance(given, str):
        is_long = error.validator in ("minLength", "maxLength")
        if error.validator == "pattern" and len(given) > LONGEST_MATCHED:
            is_long, expected = True, f"{expected}, of at most {LONGEST_MATCHED} characters"
    long = f", {len(given):,} characters" if is_long else ""
    return Fault(name, told(where, given), expected, f"{where} is {told(where, given)}{long}, expected {expected}.")


def _depth(value: object) -> int:
    level, depth = [value], 0
    while level and depth <= DEEPEST_VALUE:
        level = [inner for one in level for inner in _within(one)]
        depth += bool(level)
    return depth


def _within(value: object) -> list[Any]:
    if isinstance(value, Mapping):
        return [*value.values()]
    return value if isinstance(value, list) else []


def _all_in(value: object) -> Iterator[object]:
    left = [value]
    while left:
        yield (one := left.pop())
        left += _within(one)


def _pattern(_: Any, pattern: str, text: object, __: object) -> Iterator[ValidationError]:
    if isinstance(text, str) and not matches(pattern, text):
        yield ValidationError(f"{text!r} does not match {pattern!r}")


def _format(_: Any, name: str, text: object, __: object) -> Iterator[ValidationError]:
    if isinstance(text, str) and not FORMATS[name](text):
        yield ValidationError(f"{text!r} is no {name}")


def _multiple(_: Any, of: float, number: object, __: object) -> Iterator[ValidationError]:
    """By what is written, not by binary fractions, of which 0.3 is no multiple of 0.1."""
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    if is_number and (Fraction(repr(number)) / Fraction(repr(of))).denominator != 1:
        yield ValidationError(f"{number} is no multiple of {of}")


def _unique(_: Any, wanted: bool, items: object, __: object) -> Iterator[ValidationError]:
    """jsonschema holds each item against each other one: twenty thousand objects took it hours."""
    if wanted and isinstance(items, list):
        same = json.loads(json.dumps(items), parse_float=_number)
        if len({json.dumps(one, sort_keys=True) for one in same}) < len(same):
            yield ValidationError("an item comes twice")


def _number(text: str) -> float:
    """1.0 is 1."""
    number = float(text)
    return int(number) if number.is_integer() else number


def json_bytes(value: object) -> int:
    """Bytes of its JSON."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


_Validator = extend(  # type: ignore[no-untyped-call]  # as its stubs have it
    Draft202012Validator, {"pattern": _pattern, "format": _format, "uniqueItems": _unique, "multipleOf": _multiple}
)
