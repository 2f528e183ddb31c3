"""The log of an attempt as its page asks for it: windows, lanes, words."""

import pytest

from dashboard.live.places import path_of
from jobs.execution.logwriter import STDERR, STDOUT, LogWriter
from jobs.execution.rundir import RESULT, RunDir
from tests.dashboard.places import make_job, make_node, make_running, make_waiting

pytestmark = pytest.mark.django_db


@pytest.fixture
def running():
    return make_running(make_job(), make_node())


def printed(instance, *reads):
    path = path_of(instance.pk, 1, instance.token)
    path.mkdir(parents=True)
    with RunDir(str(path)) as rundir:
        writer = LogWriter(rundir, 1 << 26)
        for stream, data in reads:
            writer.write(stream, data)
        writer.close()


def numbered(count):
    return b"".join(b"line %d\n" % n for n in range(1, count + 1))


def part(visitor, instance, **query):
    return visitor.get(f"/instances/{instance.pk}/log/", query).json()


def found(visitor, instance, **query):
    return visitor.get(f"/instances/{instance.pk}/log/search/", query)


def test_frame_tells_stream_line_and_length_of_each_run(visitor, running):
    printed(running, (STDOUT, "ż🚀\n".encode()), (STDERR, b"oh\n"))
    frame = part(visitor, running)
    assert frame["text"] == "ż🚀\noh\n"
    assert [[stream, line, length] for stream, _, line, length in frame["runs"]] == [[1, 1, 4], [2, 2, 3]]


def test_window_around_a_line_has_that_line(visitor, running):
    printed(running, (STDOUT, numbered(100_000)))
    frame = part(visitor, running, line=50_000)
    assert "\nline 50000\n" in frame["text"]
    first = frame["runs"][0][2]
    assert frame["text"].startswith(f"line {first}\n")
    assert len(frame["text"].splitlines()) <= 1500


def test_window_ends_where_the_page_has_been_told_of(visitor, running):
    printed(running, (STDOUT, numbered(10)))
    frame = part(visitor, running, until=14)
    assert (frame["text"], frame["end"]) == ("line 1\nline 2\n", 14)


def test_lane_has_only_its_stream(visitor, running):
    printed(running, (STDERR, b"bad start\n"), (STDOUT, numbered(200_000)), (STDERR, b"bad end\n"))
    frame = part(visitor, running, stream=2)
    assert frame["text"] == "bad start\nbad end\n"
    assert [run[2] for run in frame["runs"]] == [1, 200_002]


def test_line_that_is_not_there_gives_the_end(visitor, running):
    printed(running, (STDOUT, b"one\ntwo\n"))
    assert part(visitor, running, line=700)["text"] == "one\ntwo\n"


def test_words_are_found_in_the_whole_log(visitor, running):
    printed(running, (STDOUT, numbered(50_000)), (STDERR, b"LINE of an error\n"))
    assert found(visitor, running, words="line 4999").json() == {
        "lines": [4999, *range(49_990, 50_000)],
        "more": False,
    }
    assert found(visitor, running, words="line", stream="2").json()["lines"] == [50_001]


def test_words_in_too_many_lines_say_so(visitor, running):
    printed(running, (STDOUT, numbered(20_000)))
    answer = found(visitor, running, words="line").json()
    assert (len(answer["lines"]), answer["more"]) == (10_000, True)


def test_no_words_are_refused_in_a_sentence(visitor, running):
    printed(running, (STDOUT, b"one\n"))
    response = found(visitor, running, words="")
    assert response.status_code == 400
    assert response.json()["error"] == "'' is nothing to search for; expected 1 to 200 characters in a line."


def test_nothing_is_found_before_the_first_attempt(visitor):
    assert found(visitor, make_waiting(make_job()), words="x").json() == {"lines": [], "more": False}


@pytest.mark.parametrize("query", [{"line": "x"}, {"line": "-1"}, {"until": "9" * 30}, {"stream": "7"}])
def test_odd_questions_get_the_end(visitor, running, query):
    printed(running, (STDOUT, b"one\n"))
    assert part(visitor, running, **query)["text"] == "one\n"


@pytest.mark.parametrize("number", ["2", "9" * 18])
def test_attempt_that_is_not_there_printed_nothing(visitor, running, number):
    printed(running, (STDOUT, b"one\n"))
    assert part(visitor, running, attempt=number)["text"] == ""


def test_log_beside_a_spoilt_result_is_not_downloaded_in_part(visitor, running):
    """The download began, and broke off with the reader none the wiser."""
    printed(running, (STDOUT, b"one\n"))
    (path_of(running.pk, 1, running.token) / RESULT).write_text("[]")
    response = visitor.get(f"/instances/{running.pk}/log/download/")
    assert response.status_code == 409
    assert "can be downloaded when the attempt has ended" in response.content.decode()
