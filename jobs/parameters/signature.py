"""The parameters of a Python function as a JSON Schema, and JSON values as its annotations want them."""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Callable, Mapping
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

CONTEXT = "context"
PLAIN: dict[object, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    date: {"type": "string", "format": "date"},
    datetime: {"type": "string", "format": "date-time"},
    list: {"type": "array"},
    dict: {"type": "object"},
    Any: {},
    inspect.Parameter.empty: {},
}
KNOWN = "str, int, float, bool, date, datetime, list, dict, Literal, an Enum, Optional or Any"
# What is said in Annotated, by objects that have these names (annotated_types and pydantic have such).
BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
LENGTHS = {"min_length": ("minLength", "minItems"), "max_length": ("maxLength", "maxItems")}


class InvalidSignature(TypeError):
    """Parameters that no form and no JSON could give; the sentence says which, and what to change."""


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON Schema of an object of its parameters; a first one named `context` is left out.

    Raises InvalidSignature.
    """
    hints = _hints(function)
    properties: dict[str, Any] = {}
    required = []
    for name, parameter in _parameters(function).items():
        schema = _schema_of_type(name, hints.get(name, parameter.annotation))
        if parameter.default is parameter.empty:
            required.append(name)
        else:
            schema = _with_default(name, schema, parameter.default)
        properties[name] = schema
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def as_annotated(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Values that the schema allows, with dates, moments and enumerations' members where the function says so.

    Raises ValueError for a text that is none.
    """
    hints = _hints(function)
    return {name: _as_type(hints.get(name), value) for name, value in values.items()}


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, AttributeError, TypeError, SyntaxError) as error:
        raise InvalidSignature(f"its annotations cannot be read ({error}); import what they name.") from None


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    found = dict(inspect.signature(function).parameters)
    for name, parameter in found.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            mark = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
            raise InvalidSignature(f"it takes {mark}{name}, for which no form could ask; name each parameter.")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise InvalidSignature(f"its parameter {name} is positional only, but it is called by names; remove the /.")
    if next(iter(found), "") == CONTEXT:
        del found[CONTEXT]
    if CONTEXT in found:
        raise InvalidSignature("its parameter context is not the first; put it first, or give it another name.")
    return found


def _schema_of_type(name: str, annotation: Any) -> dict[str, Any]:
    arguments = get_args(annotation)
    if isinstance(annotation, type) and annotation in PLAIN:
        return dict(PLAIN[annotation])
    if get_origin(annotation) is Annotated:
        return _bounded(_schema_of_type(name, arguments[0]), annotation.__metadata__)
    if get_origin(annotation) in (Union, types.UnionType):
        return _union(name, arguments)
    if get_origin(annotation) is Literal:
        return _enumeration(name, list(arguments))
    if get_origin(annotation) is list:
        return {"type": "array", "items": _schema_of_type(name, arguments[0])}
    if get_origin(annotation) is dict and arguments[0] is str:
        return {"type": "object", "additionalProperties": _schema_of_type(name, arguments[1])}
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _enumeration(name, [member.value for member in annotation])
    said = getattr(annotation, "__name__", None) or str(annotation)
    raise InvalidSignature(f"its parameter {name} is annotated {said}, which JSON has not; use {KNOWN}.")


def _union(name: str, arguments: tuple[Any, ...]) -> dict[str, Any]:
    members = [_schema_of_type(name, one) for one in arguments if one is not types.NoneType]
    schema = members[0] if len(members) == 1 else {"anyOf": members}
    return _or_null(schema) if types.NoneType in arguments else schema


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "enum" in schema:
        schema = schema | {"enum": [*schema["enum"], None]}
    if "type" in schema:
        return schema | {"type": [schema["type"], "null"]}
    return schema | {"anyOf": [*schema["anyOf"], {"type": "null"}]} if "anyOf" in schema else schema


def _enumeration(name: str, values: list[Any]) -> dict[str, Any]:
    kinds = {type(value) for value in values}
    if not kinds <= {str, int, float, bool}:
        raise InvalidSignature(f"its parameter {name} has choices that are no text, number or truth value.")
    return {"enum": values} | (PLAIN[kinds.pop()] if len(kinds) == 1 else {})


def _bounded(schema: dict[str, Any], metadata: tuple[object, ...]) -> dict[str, Any]:
    """With what Annotated says: bounds, lengths, a pattern; a plain text is its description."""
    schema = dict(schema)
    for one in metadata:
        if isinstance(one, str):
            schema["description"] = one
            continue
        for part in (one, *getattr(one, "metadata", ())):
            schema |= _limits(schema, part)
    return schema


def _limits(schema: Mapping[str, Any], given: object) -> dict[str, Any]:
    listed = schema.get("type") == "array"
    found = {keyword: getattr(given, said, None) for said, keyword in BOUNDS.items()}
    found |= {keywords[listed]: getattr(given, said, None) for said, keywords in LENGTHS.items()}
    found["pattern"] = getattr(given, "pattern", None)
    found["description"] = getattr(given, "description", None)
    return {keyword: value for keyword, value in found.items() if isinstance(value, int | float | str)}


def _with_default(name: str, schema: dict[str, Any], default: object) -> dict[str, Any]:
    value = default.value if isinstance(default, Enum) else default
    value = value.isoformat() if isinstance(value, date) else value
    if value is None and not Draft202012Validator(schema).is_valid(None):
        schema = _or_null(schema)
    try:
        json.dumps(value, allow_nan=False)
        Draft202012Validator(schema).validate(value)
    except (TypeError, ValueError):
        raise InvalidSignature(
            f"the default of its parameter {name}, {default!r}, is no JSON; use a plain value."
        ) from None
    except ValidationError as refusal:
        raise InvalidSignature(f"the default of its parameter {name} does not fit: {refusal.message}.") from None
    return schema | {"default": value}


def _as_type(annotation: Any, value: Any) -> Any:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if value is None or annotation is None:
        return value
    if origin is Annotated:
        return _as_type(arguments[0], value)
    if origin in (Union, types.UnionType):
        members = [one for one in arguments if one is not types.NoneType]
        return _as_type(members[0], value) if len(members) == 1 else value
    if origin is list:
        return [_as_type(arguments[0], one) for one in value]
    if origin is dict:
        return {key: _as_type(arguments[1], one) for key, one in value.items()}
    if annotation in (date, datetime):
        return annotation.fromisoformat(value)
    if annotation is float:
        return float(value)
    return annotation(value) if isinstance(annotation, type) and issubclass(annotation, Enum) else value
