"""Lines of a log have numbers, streams and moments, and words are found in it."""

import time

import pytest

from jobs.execution import log
from jobs.execution.loglines import Extent, offset_of, runs, window
from jobs.execution.logsearch import EmptySearchError, Match, search
from jobs.execution.logwriter import STDERR, STDOUT, LogWriter
from jobs.execution.rundir import RunDir

ALL = Extent(1 << 30)
NOTHING = Extent(0)


@pytest.fixture
def printed(tmp_path):
    """printed((stream, bytes), ..., cap=...) -> path of the run directory."""

    def write(*reads, cap=1 << 26):
        with RunDir(str(tmp_path)) as rundir:
            writer = LogWriter(rundir, cap)
            for stream, data in reads:
                writer.write(stream, data)
            writer.close()
        return tmp_path

    return write


def numbered(count, start=1):
    return b"".join(b"line %d\n" % n for n in range(start, start + count))


def texts(found):
    return [(run.line, run.stream, run.text) for run in found]


def test_runs_tell_line_stream_and_moment(printed):
    before = time.time()
    path = printed((STDOUT, b"one\ntwo"), (STDERR, b"oh no\n"), (STDOUT, b"three\n"))
    found = runs(path, 0, 100)
    assert texts(found) == [(1, STDOUT, "one\ntwo"), (2, STDERR, "oh no\n"), (3, STDOUT, "three\n")]
    assert all(before - 1 < run.at <= time.time() for run in found)


def test_runs_begin_where_they_are_asked_to(printed):
    path = printed((STDOUT, b"one\ntwo\nthree\n"))
    assert texts(runs(path, 5, 9)) == [(2, STDOUT, "wo\nt")]


def test_line_and_offset_agree_over_segments(printed):
    path = printed(*((STDOUT, numbered(500, 1 + 500 * n)) for n in range(40)), cap=1 << 20)
    text = log.read(path, 0, 1 << 24).data
    for line in (1, 2, 499, 500, 501, 9_999, 20_000):
        assert text[offset_of(path, line) :].startswith(b"line %d\n" % line)


def test_lines_keep_their_numbers_past_the_cap(printed):
    path = printed(*((STDOUT, numbered(500, 1 + 500 * n)) for n in range(200)), cap=65_536)
    end = log.state(path).end
    (last,), *_ = window(path, end, Extent(100, 1), NOTHING)
    assert texts([last]) == [(100_000, STDOUT, "line 100000\n")]
    assert log.read(path, offset_of(path, 99_990), 11).data == b"line 99990\n"
    assert search(path, "line 99999").matches == [Match(99_999, "line 99999")]


def test_line_that_was_dropped_is_the_next_that_is_kept(printed):
    path = printed(*((STDOUT, numbered(500, 1 + 500 * n)) for n in range(200)), cap=65_536)
    kept = log.segments(path)
    assert offset_of(path, 50_000) == kept[1][0]


def test_line_beyond_the_end_is_the_last(printed):
    assert offset_of(printed((STDOUT, b"one\ntwo\n")), 700) == 4


def test_window_has_lines_before_and_after(printed):
    path = printed((STDOUT, numbered(1000)))
    earlier, later, *_ = window(path, offset_of(path, 500), Extent(10_000, 2), Extent(10_000, 3))
    assert texts(earlier) == [(498, STDOUT, "line 498\nline 499\n")]
    assert texts(later) == [(500, STDOUT, "line 500\nline 501\nline 502\n")]


def test_window_by_bytes_begins_with_a_line(printed):
    path = printed((STDOUT, numbered(1000)))
    earlier, *_ = window(path, offset_of(path, 500), Extent(25), NOTHING)
    assert texts(earlier) == [(498, STDOUT, "line 498\nline 499\n")]


def test_window_never_cuts_a_character(printed):
    path = printed((STDOUT, "ż🚀".encode() * 100_000))
    for size in range(1000, 1006):
        earlier, later, *_ = window(path, 300_000, Extent(size), Extent(size))
        assert "\ufffd" not in "".join(run.text for run in [*earlier, *later])


def test_window_of_one_stream_looks_past_the_other(printed):
    reads = [(STDERR, b"first\n"), *((STDOUT, numbered(1000)) for _ in range(300)), (STDERR, b"last\n")]
    path = printed(*reads)
    earlier, *_ = window(path, log.state(path).end, Extent(1000), NOTHING, STDERR)
    assert texts(earlier) == [(1, STDERR, "first\n"), (300_002, STDERR, "last\n")]


def test_window_tells_whether_it_reaches_the_end(printed):
    path = printed((STDOUT, numbered(10)))
    assert window(path, 0, NOTHING, Extent(1000, 10)).ends
    assert not window(path, 0, NOTHING, Extent(1000, 9)).ends
    assert window(path, 0, NOTHING, ALL, STDERR) == ([], [], True, True)


def test_window_ends_where_the_log_is_said_to(printed):
    path = printed((STDOUT, numbered(10)))
    assert texts(window(path, 0, NOTHING, ALL, until=14).later) == [(1, STDOUT, "line 1\nline 2\n")]


def test_words_are_found_with_their_lines(printed):
    path = printed((STDOUT, b"all well\nERROR: disk\n"), (STDERR, b"an error again\n"))
    assert search(path, "error").matches == [Match(2, "ERROR: disk"), Match(3, "an error again")]
    assert search(path, "error", STDERR).matches == [Match(3, "an error again")]
    assert search(path, "nowhere") == ([], False)


def test_words_are_found_amid_colours(printed):
    path = printed((STDOUT, b"\x1b[31mer\x1b[1mror\x1b[0m\n"))
    assert search(path, "error").matches == [Match(1, "error")]


def test_words_are_found_amid_links_and_not_in_titles(printed):
    path = printed((STDOUT, b"\x1b]0;title\x07see \x1b]8;;http://x.example\x1b\\this page\x1b]8;;\x1b\\ now\n"))
    assert [match.line for match in search(path, "see this page now").matches] == [1]
    assert search(path, "title").matches == search(path, "x.example").matches == []


def test_words_over_the_edge_of_segments_are_found_once(printed):
    path = printed(*((STDOUT, b"x" * 1000 + b"needle"[n % 6 : n % 6 + 1]) for n in range(12)), cap=16_384)
    assert len(log.segments(path)) > 1
    path_text = log.read(path, 0, 1 << 20).data.decode()
    cut = log.segments(path)[1][0]
    words = path_text[cut - 3 : cut + 3]
    assert search(path, words).matches[0].line == 1
    assert len(search(path, "x").matches) == 1


def test_search_stops_at_the_most_it_may_find(printed):
    path = printed((STDOUT, b"y\n" * 500))
    matches, more = search(path, "y", most=100)
    assert (len(matches), more) == (100, True)
    assert search(path, "y", most=500).more is False


def test_long_line_is_shown_around_the_words(printed):
    path = printed((STDOUT, b"a" * 3_000_000 + b"needle" + b"b" * 3_000_000))
    (match,) = search(path, "needle").matches
    assert "needle" in match.text
    assert len(match.text) <= 400


@pytest.mark.parametrize("words", ["", "a\nb", "x" * 201])
def test_what_cannot_be_searched_for_is_refused(printed, words):
    with pytest.raises(EmptySearchError, match="expected 1 to 200 characters"):
        search(printed(), words)


def test_log_without_line_counts_is_counted(printed, monkeypatch):
    monkeypatch.setattr("jobs.execution.logwriter.LINES", 9)
    path = printed(*((STDOUT, numbered(500, 1 + 500 * n)) for n in range(40)), cap=1 << 20)
    assert log.read(path, offset_of(path, 12_345), 11).data == b"line 12345\n"


def test_window_knows_whether_anything_is_before(printed):
    """A lane whose first line was line 3 offered earlier lines, and there were none."""
    path = printed((STDOUT, b"one\ntwo\n"), (STDERR, b"three\nfour\n"))
    end = log.state(path).end
    assert window(path, end, ALL, NOTHING, STDERR).begins
    assert not window(path, end, Extent(1000, 1), NOTHING, STDERR).begins
    assert window(path, offset_of(path, 3), NOTHING, ALL, STDERR).begins
    assert not window(path, offset_of(path, 3), NOTHING, ALL, STDOUT).begins
