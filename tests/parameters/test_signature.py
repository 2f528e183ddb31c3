"""The schema that a function's signature gives, and the arguments that it gets."""

from __future__ import annotations

from datetime import UTC, date, datetime
from enum import Enum, StrEnum
from typing import Annotated, Any, Literal, NewType

import pytest
from annotated_types import Ge, Interval, Le

from jobs.parameters.bounds import Bounds
from jobs.parameters.signature import InvalidSignature, as_annotated, schema_of
from jobs.parameters.values import resolve


class Mode(StrEnum):
    FAST = "fast"
    SAFE = "safe"


class Level(Enum):
    LOW = 1
    HIGH = 2


Table = NewType("Table", str)


def properties(function):
    return schema_of(function)["properties"]


def test_annotations_and_defaults_become_a_schema():
    def load(table: str, limit: int = 10, share: float = 0.5, *, dry: bool = False): ...

    assert schema_of(load) == {
        "type": "object",
        "properties": {
            "table": {"type": "string"},
            "limit": {"type": "integer", "default": 10},
            "share": {"type": "number", "default": 0.5},
            "dry": {"type": "boolean", "default": False},
        },
        "required": ["table"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("function", [lambda: None, lambda context: None])
def test_function_without_parameters_takes_none(function):
    assert resolve(schema_of(function), {}, None) == {}


def test_richer_types_have_their_schema():
    def load(
        day: date,
        at: datetime | None,
        mode: Mode,
        level: Level | None,
        word: Literal["a", "b"],
        names: list[str],
        counts: dict[str, int],
        table: Table,
        either: int | str,
        number: int | float,  # noqa: PYI041 as many write it
        anything: Any,
        unsaid,
        guessed=3,
        late: int = None,  # noqa: RUF013 as many write it
    ): ...

    assert properties(load) == {
        "day": {"type": "string", "format": "date"},
        "at": {"type": ["string", "null"], "format": "date-time"},
        "mode": {"type": "string", "enum": ["fast", "safe"]},
        "level": {"type": ["integer", "null"], "enum": [1, 2, None]},
        "word": {"type": "string", "enum": ["a", "b"]},
        "names": {"type": "array", "items": {"type": "string"}},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "table": {"type": "string"},
        "either": {"type": ["integer", "string"]},
        "number": {"type": "number"},
        "anything": {},
        "unsaid": {},
        "guessed": {"default": 3},
        "late": {"type": ["integer", "null"], "default": None},
    }


def test_marks_become_bounds():
    def load(
        limit: Annotated[int, Bounds(ge=1, lt=100, title="Limit"), "rows at most"],
        name: Annotated[str, Bounds(max_length=9, pattern="^a")] | None = None,
        rows: Annotated[list[int], Bounds(min_length=1)] = [],  # noqa: B006 never changed
        share: Annotated[float, Ge(0), Interval(lt=1)] = 0.5,
    ): ...

    with pytest.raises(InvalidSignature, match=r"rows: its default is \[\], expected a list of at least 1"):
        schema_of(load)
    load.__defaults__ = (None, [1], 0.5)
    assert properties(load) == {
        "limit": {"type": "integer", "minimum": 1, "exclusiveMaximum": 100, "title": "Limit",
                  "description": "rows at most"},
        "name": {"type": ["string", "null"], "maxLength": 9, "pattern": "^a", "default": None},
        "rows": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "default": [1]},
        "share": {"type": "number", "minimum": 0, "exclusiveMaximum": 1, "default": 0.5},
    }  # fmt: skip


def positional(a, /): ...
def several(*names: str): ...
def named(**more: str): ...
def too_late(first: int, context: object): ...
def bytewise(data: bytes): ...
def odd_type(data: set[int]): ...
def by_number(data: dict[int, str]): ...
def mixed(data: str | date): ...
def bounded(data: Annotated[bool, Bounds(ge=1)]): ...
def unknown(data: Nowhere): ...  # type: ignore[name-defined]  # noqa: F821 - what is refused
def odd_default(data: list = [object()]): ...  # noqa: B006, B008 - what is refused
def wrong(data: int = "x"): ...  # type: ignore[assignment]  # what is refused
def not_a_number(data: float = float("nan")): ...
def beyond(data: Annotated[int, Le(10)] = 11): ...
def naive(data: datetime = datetime(2026, 1, 2)): ...  # noqa: DTZ001 - what is refused
def clash(a_b: int, A_B: int): ...  # noqa: N803 - what is refused


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (positional, "its parameter a is positional only, but it is called by names; remove the /."),
        (several, "it takes *names, for which no form could ask; name each parameter."),
        (named, "it takes **more, for which no form could ask; name each parameter."),
        (too_late, "its parameter context is not the first; put it first"),
        (bytewise, "its parameter data is annotated bytes, which JSON has not; use str, int"),
        (odd_type, "its parameter data is annotated set"),
        (by_number, "its parameter data is a dict by int"),
        (mixed, "its parameter data is one of several types that cannot be told apart"),
        (bounded, "its parameter data has the bound ge, which boolean cannot have"),
        (unknown, "its annotations cannot be read (name 'Nowhere' is not defined); import"),
        (odd_default, "which is no JSON"),
        (wrong, 'data: its default is "x", expected a whole number.'),
        (not_a_number, "which is no number of JSON"),
        (beyond, "data: its default is 11, expected a whole number at most 10."),
        (naive, "expected a moment with its offset"),
        (clash, "a_b and A_B would both be in the variable ROTA_PARAM_A_B"),
    ],
)
def test_what_no_form_could_give_is_refused(function, sentence):
    with pytest.raises(InvalidSignature) as refused:
        schema_of(function)
    assert sentence in str(refused.value)


def test_arguments_are_as_annotated():
    def load(context, day: date, at: datetime | None, modes: list[Mode], level: Level, share: float, n: int): ...

    values = {"day": "2026-11-30", "at": "2026-11-30T08:00:00Z", "modes": ["fast"], "level": 2, "share": 1, "n": 1}
    assert as_annotated(load, values) == {
        "day": date(2026, 11, 30),
        "at": datetime(2026, 11, 30, 8, tzinfo=UTC),
        "modes": [Mode.FAST],
        "level": Level.HIGH,
        "share": 1.0,
        "n": 1,
    }
    assert as_annotated(load, {"at": None}) == {"at": None}
