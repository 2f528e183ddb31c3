"""From the signature of a function to the schema of what it takes, and from checked values to its arguments."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from enum import Enum
from functools import reduce
from typing import Annotated, Any, Literal, Union

from jobs.parameters import bounds
from jobs.parameters.expected import types_of
from jobs.parameters.faults import InvalidParameters
from jobs.parameters.schema import check_schema

CONTEXT = "context"  # a first parameter of this name is given the run's context, and is none of its parameters
PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    None: {"type": "null"},
    date: {"type": "string", "format": "date"},
    datetime: {"type": "string", "format": "date-time"},
    time: {"type": "string", "format": "time"},
    list: {"type": "array"},
    dict: {"type": "object"},
    Any: {},
}
READ = {date: date.fromisoformat, datetime: datetime.fromisoformat, time: time.fromisoformat}
KNOWN = "str, int, float, bool, date, datetime, time, list, dict, Literal, an Enum, Optional or Any"


class InvalidSignature(TypeError):
    """Parameters that no form and no JSON could give; the sentence says which, and what to change."""


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON Schema of an object of its parameters; a first one named `context` is left out.

    Annotations give the types, `Annotated` the bounds (see bounds.py), default values the defaults; what has none is
    required. What is not annotated may be any JSON value. Raises InvalidSignature.
    """
    found = _parameters(function)
    schema = {
        "type": "object",
        "properties": {name: _schema(parameter) for name, parameter in found.items()},
        "required": [name for name, parameter in found.items() if parameter.default is parameter.empty],
        "additionalProperties": False,
    }
    try:
        return check_schema(schema)
    except InvalidParameters as refusal:
        raise InvalidSignature(str(refusal)) from refusal


def as_annotated(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Values that the schema allows, with dates, moments, times and members of an Enum where the function says so.

    Everything else is as JSON has it.
    """
    hints = {name: parameter.annotation for name, parameter in _parameters(function).items()}
    return {name: _argument(hints.get(name, Any), value) for name, value in values.items()}


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        found = dict(inspect.signature(function, eval_str=True).parameters)
    except (NameError, AttributeError, SyntaxError, TypeError, ValueError) as error:
        raise InvalidSignature(f"its annotations cannot be read ({error}); import what they name.") from None
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


def _schema(parameter: inspect.Parameter) -> dict[str, Any]:
    try:
        schema = _of(Any if parameter.annotation is parameter.empty else parameter.annotation)
        if parameter.default is parameter.empty:
            return schema
        value = _plain(parameter.default)
    except _NotTakenError as error:
        raise InvalidSignature(f"its parameter {parameter.name} {error}") from None
    if value is None and "type" in schema and "null" not in types_of(schema):
        schema = _or(schema, PLAIN[None])
    return {**schema, "default": value}


class _NotTakenError(ValueError):
    """The message follows the name of the parameter."""


def _of(annotation: Any) -> dict[str, Any]:
    """The schema of what is annotated so."""
    annotation = _unwrapped(annotation)
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _bounded(_of(inner[0]), inner[1:])
    if origin is Literal:
        return _choices([_plain(choice) for choice in inner])
    if origin in (Union, types.UnionType):
        return reduce(_or, map(_of, inner))
    if origin in (list, dict):
        return _collection(origin, inner)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _choices([_plain(member) for member in annotation])
    try:
        return dict(PLAIN[annotation])
    except (KeyError, TypeError):
        raise _NotTakenError(f"is annotated {_named(annotation)}, which JSON has not; use {KNOWN}.") from None


def _unwrapped(annotation: Any) -> Any:
    """What a NewType, or a `type` statement, is another name for."""
    while name := next((name for name in ("__supertype__", "__value__") if hasattr(annotation, name)), None):
        annotation = getattr(annotation, name)
    return annotation


def _collection(origin: type, inner: tuple[Any, ...]) -> dict[str, Any]:
    schema = _of(inner[-1])
    if origin is list:
        return {"type": "array", "items": schema} if schema else {"type": "array"}
    if inner[0] is not str:
        raise _NotTakenError(f"is a dict by {_named(inner[0])}, but names in JSON are texts; make it a dict by str.")
    return {"type": "object", "additionalProperties": schema} if schema else {"type": "object"}


def _choices(values: list[Any]) -> dict[str, Any]:
    if not values:
        raise _NotTakenError("has no choices; give its Enum some members.")
    kinds = list(dict.fromkeys(_kind(value) for value in values))
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": values}


def _kind(value: object) -> str:
    if type(value) in (str, int, float, bool, type(None)):
        return str(PLAIN[type(value)]["type"])
    raise _NotTakenError(f"has the choice {value!r}, which is no text, number or truth value; use one of these.")


def _or(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """What is either: a union of schemas in one, without combinations, so that it can be one field of a form."""
    if not one or not other:
        return {}
    if other == PLAIN[None] or one == PLAIN[None]:
        one, other = (one, other) if other == PLAIN[None] else (other, one)
        choices = {"enum": [*one["enum"], None]} if "enum" in one and None not in one["enum"] else {}
        return {**one, "type": list(dict.fromkeys([*types_of(one), "null"])), **choices}
    kinds, plain = types_of(one) + types_of(other), one.keys() | other.keys() <= {"type"}
    if set(kinds) == {"integer", "number"} and plain:
        return {"type": "number"}
    alone = len(set(kinds)) == len(kinds) and not one.keys() & other.keys() - {"type"}
    if not alone or "enum" in one or "enum" in other:
        raise _NotTakenError("is one of several types that cannot be told apart; choose one of them.")
    return {**one, **other, "type": list(dict.fromkeys(kinds))}


def _bounded(schema: dict[str, Any], marks: tuple[Any, ...]) -> dict[str, Any]:
    """With what the marks of an `Annotated` say; others than bounds, which are for somebody else, say nothing here."""
    found = dict(schema)
    for mark in marks:
        for name in (*bounds.NAMES, *bounds.ABOUT):
            value = getattr(mark, name, None)
            if value is None or callable(value) or isinstance(mark, type):
                continue
            keyword = name if name in bounds.ABOUT else _keyword(schema, name)
            if not (keyword in ("minLength", "minItems", "minProperties") and value == 0):  # says nothing
                found[keyword] = value
        if isinstance(mark, str):
            found["description"] = mark
    return found


def _keyword(schema: Mapping[str, Any], name: str) -> str:
    for kind in types_of(schema):
        if name in bounds.KEYWORDS.get(kind, {}):
            return bounds.KEYWORDS[kind][name]
    kinds = " or ".join(types_of(schema)) or "any JSON value"
    raise _NotTakenError(f"has the bound {name}, which {kinds} cannot have; leave it out.")


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {name: _plain(one) for name, one in value.items()}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise _NotTakenError(f"has the value {value!r}, which is no JSON; use texts, numbers, lists or dicts.")


def _argument(annotation: Any, value: Any) -> Any:
    """The value as annotated; as it is where nothing else is meant."""
    annotation = _unwrapped(annotation)
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _argument(inner[0], value)
    if origin in (Union, types.UnionType):
        read = (_argument(one, value) for one in inner if one is not float or int not in inner)
        return next((one for one in read if one is not value), value)
    if origin is list and isinstance(value, list):
        return [_argument(inner[0], one) for one in value]
    if origin is dict and isinstance(value, dict):
        return {name: _argument(inner[1], one) for name, one in value.items()}
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return next((member for member in annotation if _plain(member) == value), value)
    if annotation in READ and isinstance(value, str):
        return READ[annotation](value)
    if annotation is float and type(value) is int:
        return float(value)
    return value


def _named(annotation: Any) -> str:
    return getattr(annotation, "__qualname__", None) or str(annotation)
