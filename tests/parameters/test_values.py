"""The values of a run: complete, or refused with a sentence for each."""

from __future__ import annotations

import pytest

from jobs.parameters.faults import InvalidParameters
from jobs.parameters.values import check_values, resolve

SCHEMA = {
    "type": "object",
    "properties": {
        "table": {"type": "string", "minLength": 1, "maxLength": 200},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        "day": {"type": "string", "format": "date"},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}, "maxItems": 3},
        "mode": {"enum": ["fast", "safe"], "default": "safe"},
        "place": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"],
                  "additionalProperties": False},
        "api_key": {"type": "string", "maxLength": 5},
    },
    "required": ["table", "limit"],
}  # fmt: skip


def refusals(values, schema=SCHEMA):
    with pytest.raises(InvalidParameters) as refused:
        resolve(schema, {}, values)
    return {fault.name: fault.sentence for fault in refused.value.faults}


def test_run_goes_before_job_goes_before_default():
    assert resolve(SCHEMA, {"table": "a", "limit": 20}, {"table": "b"}) == {"table": "b", "limit": 20, "mode": "safe"}


def test_values_come_in_the_order_of_the_schema():
    assert list(resolve(SCHEMA, {"day": "2026-11-30"}, {"table": "b"})) == ["table", "limit", "day", "mode"]


def test_job_without_parameters_takes_none():
    assert resolve({}, {}, None) == {}
    assert refusals({"a": 1}, {}) == {"a": 'There is no parameter "a"; the job takes none.'}


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("limit", "5", 'limit is "5", expected a whole number from 1 to 100.'),
        ("limit", True, "limit is true, expected a whole number from 1 to 100."),
        ("limit", 101, "limit is 101, expected a whole number from 1 to 100."),
        ("limit", 10**30, "limit contains a whole number of more than 64 bits; remove it."),
        ("limit", float("inf"), "limit contains inf, which is no number of JSON; remove it."),
        ("table", "", 'table is "", 0 characters, expected a text of 1 to 200 characters.'),
        ("table", "a\0b", "table contains the control character U+0000; remove it."),
        ("table", "\udcff", "table contains half of a surrogate pair U+DCFF; remove it."),
        ("table", None, "table is null, expected a text of 1 to 200 characters."),
        ("day", "30.11.2026", 'day is "30.11.2026", expected a date such as 2026-11-30.'),
        ("tags", ["a", "B"], 'tags[1] is "B", expected a text that matches ^[a-z]+$.'),
        ("tags", list("abcd"), 'tags is ["a", "b", "c", "d"], expected a list of at most 3 texts.'),
        ("mode", "slow", 'mode is "slow", expected one of "fast", "safe".'),
        ("place", {}, 'place lacks "x"; give it.'),
        ("place", {"x": 1, "y": 2}, 'place has "y", but takes "x"; leave it out.'),
        ("place", {"x": {"\ud800": 1}}, "place contains half of a surrogate pair U+D800; remove it."),
        ("api_key", "geheim", "api_key is (not repeated, it may be secret), 6 characters, expected a text of at"),
        ("other", 1, 'There is no parameter "other"; it takes table, limit, day, tags, mode, place, api_key.'),
    ],
)  # fmt: skip
def test_refusal_says_given_and_expected(name, value, sentence):
    told = refusals({"table": "a"} | {name: value})
    assert told.keys() == {name}
    assert told[name].startswith(sentence)


def test_required_without_value_is_told():
    expected = "table has no value, expected a text of 1 to 200 characters; give one."
    assert refusals({}) == {"table": expected}


def test_each_parameter_has_one_sentence():
    assert refusals({"limit": "x", "day": 3}).keys() == {"limit", "day", "table"}


def test_secret_inside_an_object_is_not_repeated():
    told = refusals({"table": "a", "place": {"x": 1, "password": "hush"}})
    assert "hush" not in told["place"]


def test_whole_float_becomes_a_whole_number():
    values = resolve(SCHEMA, {}, {"table": "a", "limit": 3.0})
    assert repr(values["limit"]) == "3"


def test_further_names_are_taken_where_declared():
    schema = {"type": "object", "properties": {"a-b": {}}, "additionalProperties": {"type": "integer"}}
    assert resolve(schema, {}, {"c": 1}) == {"c": 1}
    assert refusals({"c": "x"}, schema) == {"c": 'c is "x", expected a whole number.'}
    assert "ROTA_PARAM_A_B" in refusals({"a-b": 1, "a_b": 2}, schema)["a_b"]
    assert "" in refusals({"": 1}, schema)


def test_values_of_more_than_a_megabyte_are_refused():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert len(resolve(schema, {}, {"a": "x" * 900_000})["a"]) == 900_000
    assert "put the data into a file" in refusals({"a": "x" * 1_000_000}, schema)[""]


def test_bottomless_value_is_refused():
    deep: list = []
    for _ in range(5_000):
        deep = [deep]
    assert "levels of lists" in refusals({"a": deep}, {"type": "object", "properties": {"a": {}}})["a"]


def test_values_of_a_job_may_lack_what_runs_give():
    assert check_values(SCHEMA, {"limit": 3}) == {"limit": 3}


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("date", "2026-02-28", ["2026-02-30", "20260228", "2026-2-3", ""]),
        ("time", "08:30", ["8:30", "24:00", "08:30:00.1234567", "08:30 "]),
        ("date-time", "2026-11-30T08:00:00Z", ["2026-11-30T08:00:00", "2026-11-30", "T08:00Z", "2026-11-30T"]),
        ("email", "a@b", ["a", "a b@c", "@", "a@b@c"]),
        ("uri", "https://a/b", ["a", "//a", "http://[", "http://a b"]),
    ],
)
def test_formats_are_held(form, good, bad):
    schema = {"type": "object", "properties": {"a": {"type": "string", "format": form}}}
    assert resolve(schema, {}, {"a": good}) == {"a": good}
    assert all(refusals({"a": text}, schema) for text in bad)


LISTS = {"properties": {"x": {"type": "array", "uniqueItems": True}, "n": {"type": "integer"}}}


@pytest.mark.parametrize(
    "items", [[1, 1.0], [{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}], ["a", "b", "a"], [None, None], [0, -0.0]]
)
def test_what_json_holds_to_be_the_same_comes_twice(items):
    assert "each once" in refusals({"x": items}, LISTS)["x"]


@pytest.mark.parametrize(
    ("value", "of", "fits"),
    [(0.3, 0.1, True), (19.99, 0.01, True), (1e22, 0.1, True), (-4, 2, True), (0, 0.7, True), (1e308, 1e-308, True),
     (0.35, 0.1, False), (3, 2, False), (2**53 + 1, 2.0, False)],
)  # fmt: skip
def test_multiples_are_of_what_is_written(value, of, fits):
    """0.3 was refused as no multiple of 0.1, which it is not in binary."""
    schema = {"properties": {"n": {"type": "number", "multipleOf": of}}}
    if fits:
        assert resolve(schema, {}, {"n": value}) == {"n": value}
    else:
        with pytest.raises(InvalidParameters, match="a multiple of"):
            resolve(schema, {}, {"n": value})


@pytest.mark.parametrize("items", [[1, True, "1", [1]], [{"a": 1}, {"a": 2}], [0, False, None, ""], []])
def test_what_json_holds_apart_is_taken(items):
    assert resolve(LISTS, {}, {"x": items}) == {"x": items}


def test_many_objects_are_held_apart_at_once():
    """Each was held against each other one, for hours."""
    items = [{"a": number} for number in range(20_000)]
    assert resolve(LISTS, {}, {"x": items})["x"] == items


def test_whole_float_of_too_many_bits_is_refused_at_once():
    """It was taken, and refused at the start of the run."""
    assert refusals({"n": 1e300}, LISTS)["n"] == "n contains a whole number of more than 64 bits; remove it."
