"""The schema that a function's signature gives, and the arguments that it gets."""

from __future__ import annotations

from datetime import UTC, date, datetime
from enum import Enum, StrEnum
from typing import Annotated, Any, Literal, NewType

import pytest

from jobs.parameters.bounds import Bounds
from jobs.parameters.faults import InvalidParameters
from jobs.parameters.signature import arguments_of, schema_of


class Mode(StrEnum):
    FAST = "fast"
    SAFE = "safe"


class Level(Enum):
    LOW = 1
    HIGH = 2


class Ge:
    """As annotated-types has it."""

    def __init__(self, ge):
        self.ge = ge


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


def test_function_without_parameters_takes_none():
    assert schema_of(lambda: None) == {}
    assert schema_of(lambda context: None) == {}


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
        "guessed": {"type": "integer", "default": 3},
        "late": {"type": ["integer", "null"], "default": None},
    }


def test_marks_become_bounds():
    def load(
        limit: Annotated[int, Bounds(ge=1, lt=100, title="Limit"), "rows at most"],
        name: Annotated[str, Bounds(max_length=9, pattern="^a")] | None = None,
        rows: Annotated[list[int], Bounds(min_length=1)] = [],  # noqa: B006 never changed
        share: Annotated[float, Ge(0)] = 0.5,
    ): ...

    with pytest.raises(InvalidParameters, match=r"rows: its default is \[\], expected a list of at least 1"):
        schema_of(load)
    load.__defaults__ = (None, [1], 0.5)
    assert properties(load) == {
        "limit": {"type": "integer", "minimum": 1, "exclusiveMaximum": 100, "title": "Limit",
                  "description": "rows at most"},
        "name": {"type": ["string", "null"], "maxLength": 9, "pattern": "^a", "default": None},
        "rows": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "default": [1]},
        "share": {"type": "number", "minimum": 0, "default": 0.5},
    }  # fmt: skip


def test_further_names_are_additional():
    def load(**more: int): ...

    assert schema_of(load)["additionalProperties"] == {"type": "integer"}


def positional(a, /): ...
def several(*names: str): ...
def bytewise(data: bytes): ...
def by_number(data: dict[int, str]): ...
def mixed(data: str | date): ...
def bounded(data: Annotated[bool, Bounds(ge=1)]): ...
def unknown(data: Nowhere): ...  # type: ignore[name-defined]  # noqa: F821
def given(data: str = b""): ...  # type: ignore[assignment]
def wrong(data: int = "x"): ...  # type: ignore[assignment]
def clash(a_b: int, A_B: int): ...  # noqa: N803


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (positional, "parameter a of positional is positional only, but values are given by name; remove the /"),
        (several, "parameter names of several takes any number of values without names; make it a list."),
        (bytewise, "parameter data of bytewise has the type bytes, which is not taken; use str, int"),
        (by_number, "parameter data of by_number is a dict by int"),
        (mixed, "parameter data of mixed is one of several types that cannot be told apart"),
        (bounded, "parameter data of bounded has the bound ge, which boolean cannot have"),
        (unknown, "signature of unknown cannot be read: name 'Nowhere' is not defined; import"),
        (given, "parameter data of given has the value b''"),
        (wrong, 'data: its default is "x", expected a whole number.'),
        (clash, "a_b and A_B would both be in the variable ROTA_PARAM_A_B"),
    ],
)
def test_signature_that_is_not_taken_is_refused(function, sentence):
    with pytest.raises(InvalidParameters) as refused:
        schema_of(function)
    assert sentence in str(refused.value)


def test_arguments_are_as_annotated():
    def load(context, day: date, at: datetime | None, modes: list[Mode], level: Level, share: float, n: int): ...

    values = {"day": "2026-11-30", "at": "2026-11-30T08:00:00Z", "modes": ["fast"], "level": 2, "share": 1, "n": 1}
    assert arguments_of(load, values) == {
        "day": date(2026, 11, 30),
        "at": datetime(2026, 11, 30, 8, tzinfo=UTC),
        "modes": [Mode.FAST],
        "level": Level.HIGH,
        "share": 1.0,
        "n": 1,
    }
    assert arguments_of(load, {"at": None}) == {"at": None}
