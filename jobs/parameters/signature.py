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

from jobs.core.texts import shown
from jobs.parameters import bounds
from jobs.parameters.faults import Fault, InvalidParameters
from jobs.parameters.schema import check_schema
from jobs.parameters.words import types_of

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
    object: {},
}
READ = {date: date.fromisoformat, datetime: datetime.fromisoformat, time: time.fromisoformat}
TAKEN = "str, int, float, bool, date, datetime, time, list, dict, Literal, an Enum, or one of these or None"


class _NotTakenError(ValueError):
    """The message is what is wrong, to follow the name of the parameter."""


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON Schema of the function's parameters; {} if it takes none. Raises InvalidParameters.

    Annotations give the types, `Annotated` the bounds (see bounds.py), default values the defaults; what has none is
    required. What is not annotated may be any JSON value, or what its default is. `**more` takes further names.
    """
    found, faults = {}, []
    others: bool | dict[str, Any] = False
    required: list[str] = []
    for parameter in _parameters(function):
        try:
            schema = _schema(parameter)
        except _NotTakenError as error:
            sentence = f"The parameter {parameter.name} of {_name(function)} {error}"
            faults.append(Fault(parameter.name, shown(str(parameter)), TAKEN, sentence))
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            others = schema or True
            continue
        found[parameter.name] = schema
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    if faults:
        raise InvalidParameters(faults)
    if not found and others is False:
        return {}
    whole = {"type": "object", "properties": found, "required": required, "additionalProperties": others}
    return check_schema(whole)


def arguments_of(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Values that `schema_of(function)` takes, as the function is annotated: dates, moments, times, members of an Enum.

    Everything else is as JSON has it.
    """
    hints = {parameter.name: parameter.annotation for parameter in _parameters(function)}
    return {name: _argument(hints.get(name, Any), value) for name, value in values.items()}


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        signature = inspect.signature(function, eval_str=True)
    except (NameError, AttributeError, SyntaxError, TypeError, ValueError) as error:
        sentence = f"The signature of {_name(function)} cannot be read: {error}; import what its annotations name."
        raise InvalidParameters([Fault("", _name(function), "a signature with types", sentence)]) from error
    found = list(signature.parameters.values())
    return found[1:] if found and found[0].name == CONTEXT else found


def _schema(parameter: inspect.Parameter) -> dict[str, Any]:
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise _NotTakenError("is positional only, but values are given by name; remove the / after it.")
    if parameter.kind is parameter.VAR_POSITIONAL:
        raise _NotTakenError("takes any number of values without names; make it a list.")
    annotation, default = parameter.annotation, parameter.default
    if annotation is parameter.empty:
        annotation = type(default) if type(default) in PLAIN and default is not None else Any
    schema = _of(annotation)
    if default is parameter.empty:
        return schema
    value = _plain(default)
    if value is None and "type" in schema and "null" not in types_of(schema):
        schema = _or(schema, PLAIN[None])
    return {**schema, "default": value}


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
        raise _NotTakenError(f"has the type {_type(annotation)}, which is not taken; use {TAKEN}.") from None


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
        raise _NotTakenError(f"is a dict by {_type(inner[0])}, but names in JSON are texts; make it a dict by str.")
    return {"type": "object", "additionalProperties": schema} if schema else {"type": "object"}


def _choices(values: list[Any]) -> dict[str, Any]:
    if not values:
        raise _NotTakenError("has no choices; give its Enum some members.")
    kinds = list(dict.fromkeys(_kind(value) for value in values))
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": values}


def _kind(value: object) -> str:
    for python, schema in PLAIN.items():
        if isinstance(python, type) and type(value) is python and "type" in schema:
            return str(schema["type"])
    raise _NotTakenError(f"has the choice {value!r}, which is no text, number or boolean; use one of these.")


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
    raise _NotTakenError(
        f"has the value {value!r}, which is nothing that JSON has; use texts, numbers, lists or dicts."
    )


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


def _type(annotation: Any) -> str:
    return getattr(annotation, "__qualname__", None) or str(annotation)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", None) or repr(function)
