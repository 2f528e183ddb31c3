"""Parameters of a function as a JSON Schema."""

from datetime import UTC, date, datetime
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Interval, Le, MaxLen

from jobs.parameters.signature import InvalidSignature, as_annotated, schema_of


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


def everything(
    context: object,
    text: str,
    anything,
    whole: int = 3,
    number: float = 0.5,
    flag: bool = False,
    day: date = date(2026, 1, 2),
    moment: datetime = datetime(2026, 1, 2, 3, tzinfo=UTC),
    names: list[str] = ["a"],  # noqa: B006 - read, not kept
    counts: dict[str, int] = {},  # noqa: B006
    size: Literal["s", "m"] = "m",
    colour: Colour = Colour.RED,
    maybe: int | None = None,
    no_more: str = None,  # noqa: RUF013 - as old code has it
    share: Annotated[int, Ge(1), Le(100), "Per cent."] = 10,
    within: Annotated[float, Interval(gt=0, lt=1)] = 0.5,
    short: Annotated[str, MaxLen(5)] = "",
    few: Annotated[list[int], MaxLen(5)] = [],  # noqa: B006
    whatever: Any = None,
): ...


EXPECTED = {
    "text": {"type": "string"},
    "anything": {},
    "whole": {"type": "integer", "default": 3},
    "number": {"type": "number", "default": 0.5},
    "flag": {"type": "boolean", "default": False},
    "day": {"type": "string", "format": "date", "default": "2026-01-02"},
    "moment": {"type": "string", "format": "date-time", "default": "2026-01-02T03:00:00+00:00"},
    "names": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
    "counts": {"type": "object", "additionalProperties": {"type": "integer"}, "default": {}},
    "size": {"type": "string", "enum": ["s", "m"], "default": "m"},
    "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
    "maybe": {"type": ["integer", "null"], "default": None},
    "no_more": {"type": ["string", "null"], "default": None},
    "share": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Per cent.", "default": 10},
    "within": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "default": 0.5},
    "short": {"type": "string", "maxLength": 5, "default": ""},
    "few": {"type": "array", "items": {"type": "integer"}, "maxItems": 5, "default": []},
    "whatever": {"default": None},
}


def test_each_parameter_has_its_schema():
    schema = schema_of(everything)
    assert schema["properties"] == EXPECTED
    assert schema["required"] == ["text", "anything"]
    assert schema["additionalProperties"] is False


def test_values_become_what_annotations_say():
    given = {"day": "2026-02-03", "colour": "blue", "maybe": None, "whole": 4, "moment": "2026-02-03T04:00:00+01:00"}
    found = as_annotated(everything, given)
    assert found["day"] == date(2026, 2, 3)
    assert found["colour"] is Colour.BLUE
    assert found["moment"] == datetime(2026, 2, 3, 3, tzinfo=UTC)
    assert (found["maybe"], found["whole"]) == (None, 4)


def too_many(first: int, context: object): ...
def odd_type(where: set[int]): ...
def odd_default(where: list = [object()]): ...  # noqa: B006, B008 - what is refused
def not_a_number(share: float = float("nan")): ...
def beyond(share: Annotated[int, Le(10)] = 11): ...
def unknown(share: "Nowhere"): ...  # type: ignore[name-defined]  # noqa: F821 - what is refused


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (too_many, "its parameter context is not the first"),
        (odd_type, "its parameter where is annotated set"),
        (odd_default, "is no JSON"),
        (not_a_number, "is no JSON"),
        (beyond, "does not fit: 11 is greater than the maximum of 10"),
        (unknown, "annotations cannot be read"),
    ],
)
def test_what_no_form_could_give_is_refused(function, said):
    with pytest.raises(InvalidSignature) as refusal:
        schema_of(function)
    assert said in str(refusal.value)
