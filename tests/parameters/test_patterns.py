"""Patterns that could take hours are refused, others match as JSON Schema has it."""

from __future__ import annotations

import pytest

from jobs.parameters.patterns import fault_of_pattern, matches


@pytest.mark.parametrize(
    "pattern",
    [
        "^[a-z]+$",
        "^[A-Z]{2}-[0-9]{1,8}$",
        "^(daily|weekly)$",
        "^daily$|^weekly$",
        "^b*b*b*b*x",
        "^v?[0-9]+(\\.[0-9]+)?$",
        "a*b",
        "^(a{2}){3}$",
        "[$]",
        r"^([0-9]{1,3}\.){3}[0-9]{1,3}$",
        "^[^@]+@[^@]+\\.[^@]+$",
    ],
)
def test_usual_patterns_are_taken(pattern):
    assert fault_of_pattern(pattern) == ""


@pytest.mark.parametrize(
    ("pattern", "word"),
    [
        ("^(a+)+$", "a repeat inside a repeat"),
        ("^(a|aa)+$", "a repeat inside a repeat"),
        ("^(a?){65}$", "a repeat inside a repeat"),
        ("^(.*,)*x", "a repeat inside a repeat"),
        ("(?=(a+)+b)x", "a repeat inside a repeat"),
        (r"^(a)\1$", "a reference back"),
        ("^.*.*.*.*.*x", "in too many ways"),
        (".*.*.*.*x", "in too many ways"),
        ("^(?:a|b|ab){0,16}(?:a|b|ab){0,16}c$", "in too many ways"),
        ("^" + "a?" * 30 + "$", "in too many ways"),
        ("^a|[a-c]*[b-c]*b*b{0,60}$x", "in too many ways"),
        ("(?m)^b*b*b*b*x", "in too many ways"),
        ("(", "cannot be read"),
        ("a" * 201, "201 characters"),
    ],
)
def test_dangerous_patterns_are_refused(pattern, word):
    assert word in fault_of_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "does"),
    [
        ("^[a-z]+$", "abc", True),
        ("^[a-z]+$", "abc\n", False),
        ("b", "abc", True),
        (r"\$[$]$", "a$$", True),
        ("^a", "a" * 257, False),
    ],
)
def test_dollar_is_the_very_end(pattern, text, does):
    assert matches(pattern, text) is does
