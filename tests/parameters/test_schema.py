"""Which schemas a job may declare."""

from __future__ import annotations

import pytest

from jobs.parameters.faults import InvalidParameters
from jobs.parameters.schema import check_schema


def of(**properties):
    return {"type": "object", "properties": properties}


def refusal(schema):
    with pytest.raises(InvalidParameters) as refused:
        check_schema(schema)
    return str(refused.value)


def test_schema_of_every_kind_is_taken_as_it_is():
    schema = of(
        text={"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^[a-z]+$", "title": "A text"},
        day={"type": "string", "format": "date", "default": "2026-11-30"},
        count={"type": ["integer", "null"], "minimum": 0, "exclusiveMaximum": 10, "multipleOf": 2, "default": None},
        share={"type": "number", "description": "Of all."},
        flag={"type": "boolean", "default": False},
        names={"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
        place={"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]},
        mode={"enum": ["a", 1, None]},
        fixed={"const": "v2"},
        anything={},
    )
    assert check_schema(schema) == schema


def test_empty_schema_takes_no_parameters():
    assert check_schema({}) == {}


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ([], "parameters is [], expected a JSON Schema, an object."),
        ({"type": "array"}, 'parameters has type "array", expected type "object", with the parameters'),
        ({"$schema": "http://json-schema.org/draft-04/schema"}, "expected https://json-schema.org/draft/2020-12/"),
        ({"propertys": {}}, 'parameters has "propertys", which is not taken here; did you mean properties?'),
        ({"properties": []}, "properties is [], expected an object."),
        (of(limit=7), "The parameter limit is 7, expected a JSON Schema, an object."),
        (of(limit={"$ref": "#/x"}), 'The parameter limit has "$ref", which is not taken here'),
        (of(limit={"anyOf": []}), 'The parameter limit has "anyOf", which is not taken here'),
        (of(limit={"type": "int"}), 'The parameter limit has type "int", expected one of string, integer'),
        (of(limit={"type": ["string", 3]}), "The parameter limit has type 3"),
        (of(limit={"type": "string", "minLength": -1}), "The parameter limit has a wrong minLength: -1 is less than"),
        (of(limit={"minimum": "a"}), "The parameter limit has a wrong minimum"),
        (of(limit={"minimum": 5, "maximum": 1}), "has a minimum of 5 above its maximum of 1, so nothing lies between"),
        (of(a={"items": {"minLength": 2, "maxLength": 1}}), "The parameter a, in items, has a minLength of 2 above"),
        (of(limit={"enum": []}), "The parameter limit has an enum without choices"),
        (of(when={"type": "string", "format": "week"}), 'format "week", expected one of date, date-time'),
        (of(limit={"type": "integer", "default": "x"}), 'limit: its default is "x", expected a whole number.'),
        (of(**{"a-b": {}, "a_b": {}}), "a-b and a_b would both be in the variable ROTA_PARAM_A_B; rename"),
        (of(**{"": {}}), 'A parameter is named "", expected 1 to 100 printable characters'),
        (of(**{" a": {}}), "rename it."),
        (of(**{"a\nb": {}}), "rename it."),
        (of(**{"a\0b": {}}), "contains the control character U+0000"),
        (of(a={"const": "\ud800"}), "contains half of a surrogate pair U+D800"),
        (of(a={"const": float("nan")}), "which is no number of JSON"),
        (of() | {"required": ["b"]}, 'required names "b", which is no parameter'),
        (of() | {"required": "b"}, "parameters has a wrong required"),
        (of(a={"type": "array", "items": {"type": "x"}}), 'The parameter a, in items, has type "x"'),
        (of(a={"properties": {"b": {"$ref": ""}}}), 'The parameter a, in "b", has "$ref"'),
        (of(a={"additionalProperties": {"type": "x"}}), "The parameter a, in additionalProperties, has type"),
        (of() | {"additionalProperties": {"type": "x"}}, 'additionalProperties has type "x"'),
        (of(**{f"p{n}": {} for n in range(101)}), "There are 101 parameters, expected at most 100"),
        (of(a={"description": "x" * 100_000}), "bytes, expected at most 100,000."),
    ],
)
def test_refusal_names_what_is_wrong(schema, sentence):
    assert sentence in refusal(schema)


def test_schema_too_deep_is_refused():
    deep: dict = {"type": "string"}
    for _ in range(7):
        deep = {"type": "array", "items": deep}
    assert "in items, in items, lies deeper than 6 levels" in refusal(of(a=deep))


def test_bottomless_schema_is_refused():
    deep: dict = {}
    for _ in range(5_000):
        deep = {"properties": {"a": deep}}
    assert "levels of lists and objects" in refusal(deep)


def test_each_faulty_parameter_is_told():
    assert refusal(of(a={"type": "x"}, b={}, c={"minimum": []})).count("The parameter") == 2
