"""What a schema expects, in words."""

import pytest

from jobs.parameters.expected import expected_of


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({}, "any JSON value"),
        ({"title": "x"}, "any JSON value"),
        ({"format": "date"}, "any JSON value; of texts only a date such as 2026-11-30"),
        ({"minimum": 3}, "any JSON value; of numbers only a number at least 3"),
        ({"items": {"type": "string"}}, "any JSON value; of lists only a list of texts"),
        ({"type": "array"}, "a list of values"),
    ],
)
def test_keyword_without_a_type_is_said(schema, words):
    assert expected_of(schema) == words
