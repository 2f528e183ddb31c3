"""Lines `::rota ...`, however the output that holds them is cut."""

import json

import pytest

from jobs.execution.markers import LONGEST_RESULT, MARK, Markers, levels, read_progress
from jobs.execution.rundir import RunDir

SAID = (
    b'a\n::rota progress=0.25 text=of \xc3\xa4\nno ::rota progress=0.9\n\n::rota result={"n": 1}\n::rota progress=0.5'
)


@pytest.fixture
def said(tmp_path):
    complaints = []
    with RunDir(str(tmp_path)) as rundir:
        markers = Markers(rundir, complaints.append)
        markers.complaints = complaints
        markers.shown = lambda: json.loads((tmp_path / "progress.json").read_text())
        yield markers


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 20, 1000])
def test_lines_are_found_however_they_are_cut(said, size):
    for start in range(0, len(SAID), size):
        said.feed(SAID[start : start + size])
    said.end()
    assert said.result == '{"n": 1}'
    assert said.shown() == {"done": 0.5, "text": ""}
    assert said.complaints == []


def test_progress_comes_with_words(said):
    said.feed(b"::rota progress=0.25 text=of the files\n")
    assert said.shown() == {"done": 0.25, "text": "of the files"}


def test_a_mark_within_a_line_is_none(said):
    said.feed(b"x ::rota result=1\n")
    said.feed(b"half ")
    said.feed(MARK + b"result=2\n")
    said.end()
    assert said.result == ""


@pytest.mark.parametrize(
    "line",
    [b"progress=2", b"progress=nan", b"progress=", b"result={", b"result=NaN", b"result=\xff", b"x=1", b"",
     b'result="\\u0000"', b'result="\\ud83d"', b"result=1e999", b"result=" + b"[" * 3000,
     b"result=" + b'{"a":[' * 51 + b"]}" * 51],
)  # fmt: skip
def test_what_is_not_understood_is_said(said, line):
    said.feed(MARK + line + b"\n")
    assert len(said.complaints) == 1
    assert said.complaints[0].startswith("not understood: ")
    assert said.result == ""


def test_a_flood_of_odd_lines_is_not_echoed(said):
    said.feed((MARK + b"x\n") * 1000)
    assert len(said.complaints) == 5
    assert [line.endswith("; further such lines are not told") for line in said.complaints] == [False] * 4 + [True]


def test_odd_results_are_told_after_odd_lines(said):
    said.feed((MARK + b"progress=x\n") * 6 + (MARK + b"result={\n") * 6)
    assert [line.split()[2] for line in said.complaints] == ["progress"] * 5 + ["result"] * 5
    assert said.complaints[-1].endswith("; further such results are not told")


def test_a_line_without_end_is_not_kept(said):
    for _ in range(200):
        said.feed(MARK if said._open == b"" else b"x" * 1000)
    assert said._open is None
    said.feed(b"\n::rota result=3\n")
    assert said.result == "3"


def test_a_result_has_its_limit(said):
    said.feed(MARK + b'result="' + b"x" * LONGEST_RESULT + b'"\n')
    assert "at most 65,536" in said.complaints[0]


def test_many_progresses_are_few_writes(said, monkeypatch):
    writes = []
    monkeypatch.setattr(said._rundir, "write_json", lambda *a, **k: writes.append(a))
    for n in range(1000):
        said.feed(b"::rota progress=%f\n" % (n / 1000))
    said.end()
    assert len(writes) < 50
    assert writes[-1][1]["done"] == 0.999


def test_progress_that_no_page_can_show_is_cleaned(tmp_path):
    (tmp_path / "progress.json").write_text('{"done": 0.5, "text": "\\udcff!"}')
    assert read_progress(tmp_path) == (0.5, "?!")


def test_levels_of_a_result_are_counted():
    assert [levels(one) for one in (1, [], {"a": 1}, [[1], {"a": {"b": []}}])] == [0, 1, 1, 4]
