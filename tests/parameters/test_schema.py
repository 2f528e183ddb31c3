"""Which schemas a job may declare."""

from __future__ import annotations

from itertools import product

import pytest

from jobs.parameters.checking import fault_of_value
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


@pytest.mark.parametrize(
    ("one", "value"),
    [
        ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 3}, 2),
        ({"type": "integer", "minimum": 1.5, "maximum": 2}, 2),
        ({"type": ["integer", "number"], "exclusiveMinimum": 1, "exclusiveMaximum": 2}, 1.5),
        ({"type": "integer", "minimum": -5, "maximum": -1, "multipleOf": 2.5}, -5),
        ({"type": "number", "minimum": 0.3, "maximum": 0.3, "multipleOf": 0.1}, 0.3),
        ({"minimum": 5, "maximum": 5}, 5),
        ({"type": "string", "pattern": "^a{3}$", "minLength": 3, "maxLength": 3}, "aaa"),
        ({"type": "string", "pattern": "b|^a{200}", "maxLength": 1}, "b"),
        ({"enum": ["x", 3], "type": "integer"}, 3),
        ({"items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 2}, [2, 1]),
        ({"required": ["x"], "minProperties": 2, "maxProperties": 2}, {"x": 1, "y": 2}),
        (
            {"properties": {"x": {}}, "required": ["x"], "maxProperties": 1, "additionalProperties": False},
            {"x": 1},
        ),
    ],
)
def test_schema_that_one_value_satisfies_is_taken(one, value):
    schema = of(a=one | {"default": value})
    assert check_schema(schema) == schema


def test_bounds_are_refused_just_where_no_whole_number_is_between():
    lower, upper = (None, 0, 0.5, 1), (None, 1, 1.5, 2)
    for low, above, high, below, step in product(lower, lower, (0, 1, 1.5), upper, (1, 1.5)):
        given = {"minimum": low, "exclusiveMinimum": above, "maximum": high, "exclusiveMaximum": below}
        bounds = {keyword: bound for keyword, bound in given.items() if bound is not None}
        one = {"type": "integer", "multipleOf": step, **bounds}
        is_possible = any(fault_of_value("a", one, number) is None for number in range(-3, 3))
        try:
            is_taken = bool(check_schema(of(a=one)))
        except InvalidParameters:
            is_taken = False
        assert is_taken == is_possible, one


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
        (of(a={"exclusiveMinimum": 5, "maximum": 5}), "a has an exclusiveMinimum of 5 not below its maximum of 5, so"),
        (
            of(a={"minimum": 5, "exclusiveMaximum": 5}),
            "a has a minimum of 5 not below its exclusiveMaximum of 5, so no",
        ),
        (of(a={"exclusiveMinimum": 6.5, "exclusiveMaximum": 5}), "a has an exclusiveMinimum of 6.5 not below its ex"),
        (
            of(a={"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}),
            "a has no whole number between its exclusiveMinimum of 1 and its exclusiveMaximum of 2; change",
        ),
        (
            of(a={"type": ["integer", "null"], "minimum": 0.1, "exclusiveMaximum": 5, "multipleOf": 2.5}),
            "a has no whole number that is a multiple of 2.5 between its minimum of 0.1 and its exclusiveMaximum of 5;",
        ),
        (
            of(a={"type": "number", "exclusiveMinimum": 0, "minimum": -1, "maximum": 0.2, "multipleOf": 0.3}),
            "a has no number that is a multiple of 0.3 between its exclusiveMinimum of 0 and its maximum of 0.2",
        ),
        (
            of(a={"pattern": "^[a-z]{5}", "maxLength": 4}),
            "a pattern that takes 5 characters or more, above its maxLength",
        ),
        (of(a={"pattern": "^a{129}$"}), "takes 129 characters or more, above the 128 that a text with a pattern may"),
        (
            of(a={"pattern": "^a", "minLength": 129}),
            "a has a minLength of 129, above the 128 that a text with a pattern",
        ),
        (
            of(a={"items": {"enum": ["x", "y"]}, "uniqueItems": True, "minItems": 3}),
            "a has a minItems of 3, above the 2 choices of its items, of which each may come once.",
        ),
        (
            of(a={"required": ["x", "y"], "maxProperties": 1}),
            "a requires 2 names, above its maxProperties of 1; change",
        ),
        (
            of(a={"required": ["x"], "additionalProperties": False}),
            'a requires "x", which it does not take; declare it',
        ),
        (
            of(a={"properties": {"x": {}}, "minProperties": 2, "additionalProperties": False}),
            "a has a minProperties of 2, but takes no more than 1 names.",
        ),
        (
            of(a={"type": "integer", "enum": ["x", 1.5]}),
            'The parameter a has an enum of which no choice fits: its first is "x", expected a whole number.',
        ),
        (of(a={"const": 3, "maximum": 2}), "The parameter a: its const is 3, expected"),
        (of(a={"const": 3, "enum": [1, 2]}), "The parameter a: its const is 3, expected one of 1, 2."),
        (of(a={"properties": {"x": {"type": "null", "const": 1}}}), 'a, in "x": its const is 1, expected null.'),
        (of(a={"pattern": "("}), 'has the pattern "(" that cannot be read'),
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
