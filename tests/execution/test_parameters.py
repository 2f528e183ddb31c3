"""Whatever a parameter holds reaches the program as it is, by variable and by file, or was refused with a sentence."""

from __future__ import annotations

import json
import os
import re

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from jobs.core.running import RunOptions
from jobs.core.states import OutcomeKind
from jobs.execution import log
from jobs.execution.parameters import FILE_VARIABLE, LARGEST_VARIABLE, text_of, variable_of, variables_of
from jobs.execution.rundir import PARAMETERS
from jobs.parameters.faults import InvalidParameters
from jobs.parameters.schema import check_schema
from jobs.parameters.values import resolve
from tests.execution.node import Node

SCRIPT = """
import os
with open(os.environ["ROTA_OUTPUT"] + "/env", "wb") as seen:
    for name, value in os.environb.items():
        seen.write(name + b"=" + value + b"\\0")
with open(os.environ["ROTA_PARAMETERS_FILE"], "rb") as file, open(os.environ["ROTA_OUTPUT"] + "/file", "wb") as seen:
    seen.write(file.read())
"""
COMMAND = """
for name in "${!ROTA_@}"; do printf '%s=%s\\0' "$name" "${!name}"; done > "$ROTA_OUTPUT/env"
cat -- "$ROTA_PARAMETERS_FILE" > "$ROTA_OUTPUT/file"
"""
HOWS = {
    "cold": {"kind": "script", "body": SCRIPT, "run": RunOptions(start="cold")},
    "warm": {"kind": "script", "body": SCRIPT, "run": RunOptions(start="warm")},
    "command": {"kind": "command", "body": COMMAND},
}
NASTY = [
    "", " ", "'", '"', "`id`", "$(touch /tmp/pwned)", "${HOME}", "$ROTA_TOKEN", "%s%n%", "%PATH%", "\\", "\\n", "a\nb",
    "\r\n", "\t", "-rf", "--help", "--", "../../etc/passwd", "~", "*", "?[a]", "a;b", "a&&b", "a|b", ">x", "#", "!!",
    "{{ x }}", "{% x %}", "=", "a=b", "\x1b[31mred\x1b[0m", "\x07\x08\x7f", "é\u0301", "\u202e", "\u2028", "👩\u200d👧",
    "\ufeff", "\U0010ffff", "::rota result=1", "null", "true", "1e999", "\0", "a\0b", "\ud800", "\udc80x",
    True, False, None, 0, -1, 2**63 - 1, -(2**63), 0.1, 1e300, [], {}, ["'", "$(x)"], {"a b": {"é": ["\n"]}}, {"": ""},
]  # fmt: skip


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    """One for all, since a warm launcher takes a while to begin."""
    node = Node(tmp_path_factory.mktemp("parameters") / "data")
    node.warm_up()
    yield node
    node.executor.close()


sentences: set[str] = set()  # of all refusals
NAMES = ["plain", "with-dash", "a b", "é", "日本", "$(id)", "a=b", "%", "'", '"', "../x", "-x", "👍", "a\nb", "\0", "",
         " a", "x" * 101, "\x1b[1m", "\u202e", "IFS", "path", "\ud800", "__proto__"]  # fmt: skip


def accepted(pairs):
    """By name, the pairs that a job may declare and a run be given; each of the others is refused with a sentence."""
    taken, variables = {}, set()
    for name, value in pairs:
        try:
            resolve(check_schema({"properties": {name: {}}}), {}, {name: value})
        except InvalidParameters as refusal:
            sentences.update(fault.sentence for fault in refusal.faults)
        else:
            if variable_of(name) not in variables:
                taken[name] = value
                variables.add(variable_of(name))
    return taken


def reaches(node, how, values, job_name="a job"):
    """Launch with these and compare what the program saw; its run directory."""
    ref = node.launch(parameters=values, takes_parameters=True, job_name=job_name, **HOWS[how])
    outcome = node.outcome(ref)
    assert outcome.kind == OutcomeKind.SUCCESS, (outcome.error, node.text(ref))
    output = node.path(ref) / "output"
    seen = dict(pair.split(b"=", 1) for pair in (output / "env").read_bytes().rstrip(b"\0").split(b"\0"))
    own = {name: value for name, value in seen.items() if name.startswith(b"ROTA_PARAM_")}
    assert own == {name.encode(): value.encode() for name, value in variables_of(values).items()}
    assert seen[b"ROTA_JOB_NAME"] == job_name.encode()
    assert json.loads((output / "file").read_bytes()) == values
    if how != "command":
        assert node.start_method(ref) == how
    return node.path(ref)


@pytest.mark.parametrize("how", HOWS)
def test_nasty_values_and_names_arrive_unchanged(node, how):
    pairs = [(f"n{number}", value) for number, value in enumerate(NASTY)]
    values = accepted([*pairs, *((name, "$(x)'\"\n") for name in NAMES)])
    assert len(values) == len(NASTY) - 4 + 11
    assert all(re.search("(contains .*; remove|expected .*; rename) it[.]$", sentence) for sentence in sentences)
    reaches(node, how, values, job_name='it\'s "$(x)" %s `y` ../é 👍 -rf')


texts = st.text(st.characters(codec=None), max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("how", HOWS)
@settings(max_examples=2, deadline=None, database=None, phases=[Phase.generate],
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(pairs=st.lists(st.tuples(texts, texts | json_values), min_size=30, max_size=60))
def test_any_value_arrives_unchanged_or_is_refused(node, how, pairs):
    reaches(node, how, accepted(pairs))


@pytest.mark.parametrize("how", ["cold", "command"])
def test_hundred_kilobytes_arrive_by_variable_too(node, how):
    values = {"a": "x" * 100_000, "b": "é" * 50_000, "c": list(range(10_000))}
    assert len(variables_of(values)) == 3
    reaches(node, how, values)


def test_what_exec_takes_not_is_in_the_file_and_the_log_says_so(node):
    most = LARGEST_VARIABLE - len("ROTA_PARAM_FITS=")
    values = {"fits": "x" * most, "over": "x" * (most + 1), "more": "é" * 200_000}
    path = reaches(node, "cold", values)
    said = log.read_text(path).text
    assert f"parameter over has {most + 1:,} bytes, more than a variable may have" in said
    assert f"{FILE_VARIABLE} names, and ROTA_PARAM_MORE is not set" in said
    assert "fits" not in said


def test_all_variables_together_leave_exec_room():
    values = {f"p{number}": "x" * 100_000 for number in range(20)}
    taken = variables_of(values)
    assert 0 < len(taken) < 20
    assert sum(map(len, taken.values())) < os.sysconf("SC_ARG_MAX") // 2


@pytest.mark.parametrize(
    ("name", "variable"), [("limit", "ROTA_PARAM_LIMIT"), ("a-b c", "ROTA_PARAM_A_B_C"), ("é1", "ROTA_PARAM__1")]
)
def test_variable_is_named_after_the_parameter(name, variable):
    assert variable_of(name) == variable


@pytest.mark.parametrize(("value", "text"), [("a", "a"), (True, "true"), (None, "null"), (3, "3"), (["é"], '["é"]')])
def test_what_is_no_text_is_json(value, text):
    assert text_of(value) == text


def test_job_without_parameters_has_no_file(node):
    ref = node.launch("env")
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS
    assert "ROTA_PARAM" not in node.text(ref)
    assert not (node.path(ref) / PARAMETERS).exists()


def test_values_that_do_not_fit_reject_the_start(node):
    ref = node.launch(parameters_error="limit is 3, expected a text.")
    assert node.outcome(ref).kind == OutcomeKind.REJECTED
    assert node.outcome(ref).error == "could not be started: limit is 3, expected a text."
    assert node.outcome(ref).error in node.text(ref)
