"""What a schema expects, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobs.core.texts import shown
from jobs.parameters.formats import FORMAT_WORDS

MOST_CHOICES = 20
ANYTHING = "any JSON value"
TYPES = {
    "string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list", "object": "an object", "null": "null",
}  # fmt: skip
MANY = {"string": "texts", "integer": "whole numbers", "number": "numbers", "boolean": "true or false",
        "array": "lists", "object": "objects"}  # fmt: skip

PLAIN = {**TYPES, "array": "a list of values"}  # what is said of a kind that nothing narrows


def types_of(schema: Mapping[str, Any]) -> list[str]:
    """The JSON types that it names; none where any will do."""
    named = schema.get("type", [])
    return [named] if isinstance(named, str) else list(named)


def expected_of(schema: Mapping[str, Any]) -> str:
    if "const" in schema:
        return f"nothing but {shown(schema['const'])}"
    if "enum" in schema:
        choices = [shown(choice) for choice in schema["enum"][:MOST_CHOICES]]
        more = ", …" if len(schema["enum"]) > MOST_CHOICES else ""
        return f"one of {', '.join(choices)}{more}" if len(schema["enum"]) > 1 else f"nothing but {choices[0]}"
    return " or ".join(_kind(schema, kind) for kind in types_of(schema)) or _untyped(schema)


def _untyped(schema: Mapping[str, Any]) -> str:
    """Without a type a keyword counts only for values of its own kind."""
    said = ((kind, _kind(schema, kind)) for kind in ("string", "number", "array", "object"))
    return "; ".join([ANYTHING, *(f"of {MANY[kind]} only {words}" for kind, words in said if words != PLAIN[kind])])


def _kind(schema: Mapping[str, Any], kind: str) -> str:
    if kind in ("integer", "number"):
        step = f", a multiple of {schema['multipleOf']}" if "multipleOf" in schema else ""
        return f"{TYPES[kind]}{_bounds(schema)}{step}"
    if kind == "string":
        return _text(schema)
    if kind == "array":
        of = types_of(schema.get("items", {}))
        things = MANY.get(of[0], "values") if len(of) == 1 else "values"
        counted = _between(schema.get("minItems"), schema.get("maxItems"), things)
        distinct = ", each once" if schema.get("uniqueItems") else ""
        return f"a list of {counted or things}{distinct}"
    if kind == "object" and (counted := _between(schema.get("minProperties"), schema.get("maxProperties"), "names")):
        return f"an object of {counted}"
    return TYPES[kind]


def _text(schema: Mapping[str, Any]) -> str:
    words = FORMAT_WORDS.get(schema.get("format", ""), TYPES["string"])
    if counted := _between(schema.get("minLength"), schema.get("maxLength"), "characters"):
        words += f" of {counted}"
    return words + (f" that matches {schema['pattern']}" if "pattern" in schema else "")


def _between(least: int | None, most: int | None, things: str) -> str:
    if least and most is not None:
        return f"{least} {things}" if least == most else f"{least} to {most} {things}"
    if most is not None:
        return f"at most {most} {things}"
    return f"at least {least} {things}" if least else ""


def _bounds(schema: Mapping[str, Any]) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if least is not None and most is not None and above is None and below is None:
        return f" from {least} to {most}"
    said = [
        f"{word} {bound}"
        for word, bound in (("at least", least), ("above", above), ("at most", most), ("below", below))
        if bound is not None
    ]
    return f" {' and '.join(said)}" if said else ""
