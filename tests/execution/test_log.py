"""What was printed can be read back: in order, by stream, from any offset, whole characters, gaps named."""

import os
import time
from unittest.mock import Mock

import pytest

from jobs.execution import log, logwriter
from jobs.execution.log import STDERR, STDOUT
from jobs.execution.logwriter import LogWriter, unfinished_bytes
from jobs.execution.rundir import LOG, RESULT, RunDir
from jobs.execution.spec import Result

WORD = "żółw€🚀"


@pytest.fixture
def rundir(tmp_path):
    with RunDir(str(tmp_path)) as opened:
        yield opened


@pytest.fixture
def written(rundir):
    """Write these (stream, bytes) to a log with this cap; returns the writer."""

    def write(*reads, cap=1 << 20, close=True):
        writer = LogWriter(rundir, cap)
        for stream, data in reads:
            writer.write(stream, data)
        if close:
            writer.close()
        return writer

    return write


def end(rundir, writer):
    facts = {"bytes": writer.end, "lost_bytes": writer.lost_bytes, "error": writer.error}
    rundir.write_json(RESULT, Result("t", "success", 1.0, log=facts).to_json())


def test_empty_log_reads_as_nothing(rundir):
    assert log.read(rundir.path) == log.LogChunk(0, 0, b"", (), complete=False)
    assert log.tail_text(rundir.path, 500) == ""


def test_run_directory_gone_reads_as_nothing(tmp_path):
    assert log.read(tmp_path / "gone").data == b""


def test_both_streams_in_order_of_reading(rundir, written):
    written((STDOUT, b"one\n"), (STDERR, b"two\n"), (STDOUT, b"three\n"))
    assert log.read(rundir.path).data == b"one\ntwo\nthree\n"
    assert [(e.stream, e.data) for e in log.entries(rundir.path)] == [
        (STDOUT, b"one\n"), (STDERR, b"two\n"), (STDOUT, b"three\n"),
    ]  # fmt: skip


@pytest.mark.parametrize(("stream", "expected"), [(STDOUT, b"aaccc"), (STDERR, b"bb")])
def test_one_stream_alone(rundir, written, stream, expected):
    written((STDOUT, b"aa"), (STDERR, b"bb"), (STDOUT, b"ccc"))
    assert log.read(rundir.path, stream=stream).data == expected


def test_one_stream_from_inside_an_entry(rundir, written):
    written((STDOUT, b"aa"), (STDERR, b"bb"), (STDOUT, b"ccc"))
    assert log.read(rundir.path, 3, 3, STDOUT) == log.LogChunk(3, 6, b"cc", (), complete=False)


def test_chunks_join_to_the_whole(rundir, written):
    text = "".join(f"line {n} {WORD}\n" for n in range(500))
    written((STDOUT, text.encode()), cap=64 * 1024)
    for limit in (4, 7, 1000):
        parts, start = [], 0
        while chunk := log.read_text(rundir.path, start, limit):
            if chunk.end == start:
                break
            parts.append(chunk.text)
            start = chunk.end
        assert "".join(parts) == text


def test_complete_only_after_the_result(rundir, written):
    writer = written((STDOUT, b"some"))
    assert not log.read(rundir.path).complete
    end(rundir, writer)
    assert not log.read(rundir.path, limit=2).complete
    assert log.read(rundir.path).complete


@pytest.mark.parametrize("n", range(1, 20))
def test_tail_of_any_length_breaks_no_character(rundir, written, n):
    end(rundir, written((STDOUT, WORD.encode())))
    chunk = log.tail(rundir.path, n)
    assert chunk.data == WORD.encode()[-n:]
    text = log.read_text(rundir.path, chunk.start).text
    assert "\ufffd" not in text
    assert WORD.endswith(text)


def test_tail_counts_characters(rundir, written):
    written((STDOUT, (WORD * 100).encode()))
    assert log.tail_text(rundir.path, 8) == (WORD * 2)[-8:]


def test_character_printed_byte_by_byte_appears_whole(rundir, written):
    writer = written(close=False)
    seen = []
    for byte in WORD.encode():
        writer.write(STDOUT, bytes([byte]))
        writer.write(STDERR, b"")
        seen.append(log.read_text(rundir.path).text)
    assert seen[-1] == WORD
    assert all(WORD.startswith(text) for text in seen)


def test_streams_that_alternate_within_a_character(rundir, written):
    written((STDOUT, b"\xc5"), (STDERR, b"E"), (STDOUT, b"\xbc"))
    assert log.read_text(rundir.path).text == "Eż"


def test_bytes_that_are_no_text_are_kept(rundir, written):
    data = bytes(range(256)) * 4 + b"\xf0\x9f"
    written((STDOUT, data))
    assert log.read(rundir.path).data == data


def test_unfinished_character_of_an_ended_log_is_told(rundir, written):
    end(rundir, written((STDOUT, b"good\xe2\x82")))
    assert log.read_text(rundir.path) == log.TextChunk(0, 6, "good\ufffd", (), complete=True)


@pytest.mark.parametrize(
    ("data", "waits"),
    [(b"", 0), (b"abc", 0), ("ż".encode(), 0), (b"a\xc5", 1), (b"\xe2\x82", 2), (b"\xf0\x9f\x9a", 3),
     ("🚀".encode(), 0), (b"\xbf\xbf\xbf\xbf", 0), (b"\xff", 0)],
)  # fmt: skip
def test_unfinished_characters_are_counted(data, waits):
    assert unfinished_bytes(data) == waits


def test_cap_keeps_head_and_tail(rundir, written):
    writer = written(*((STDOUT, b"%06d\n" % n * 100) for n in range(1000)), cap=100_000)
    end(rundir, writer)
    kept = sum(b - a for a, b in log.segments(rundir.path))
    assert kept <= 100_000
    assert log.read(rundir.path, limit=7).data == b"000000\n"
    assert log.tail(rundir.path, 7).data == b"000999\n"


@pytest.mark.parametrize("segments", [1, 3, 4])
def test_log_that_fits_its_cap_is_kept_whole(rundir, written, segments):
    """A quarter of it went when the last segment began, which might stay empty."""
    written(*((STDOUT, b"x" * 1024) for _ in range(5 * segments)), cap=20 * 1024)
    assert log.segments(rundir.path)[0][0] == 0
    assert len(log.read(rundir.path, limit=1 << 20).data) == 5 * segments * 1024


def test_one_byte_over_the_cap_costs_one_segment(rundir, written):
    written(*((STDOUT, b"x" * 1024) for _ in range(20)), (STDERR, b"y"), cap=20 * 1024)
    assert log.segments(rundir.path) == [(0, 5120), (10240, 15360), (15360, 20480), (20480, 20481)]


def test_gap_is_named_and_skipped(rundir, written):
    end(rundir, written(*((STDOUT, b"x" * 1000) for _ in range(200)), cap=16_384))
    head = log.read(rundir.path, limit=1 << 20)
    after = log.read(rundir.path, head.end, 1 << 20)
    assert after.dropped_ranges == ((head.end, after.start),)
    assert head.end < after.start < after.end == 200_000
    assert after.complete


def test_small_writes_do_not_grow_the_index_past_the_cap(rundir, written, monkeypatch):
    monkeypatch.setattr(logwriter, "SEGMENT_ENTRIES", 50)
    written(*((STDOUT if n % 2 else STDERR, b"x") for n in range(5000)), cap=20_000)
    assert sum(file.stat().st_size for file in os.scandir(f"{rundir.path}/{LOG}")) <= 22_000


def test_full_disk_loses_output_and_says_so(rundir, written, monkeypatch):
    writer = written((STDOUT, b"before\n"), close=False)
    real = os.write
    monkeypatch.setattr(os, "write", Mock(side_effect=OSError(28, "No space left on device")))
    writer.write(STDOUT, b"refused\n")
    monkeypatch.setattr(os, "write", real)
    monkeypatch.setattr(writer, "_retry_at", 0.0)
    writer.write(STDOUT, b"after\n")
    writer.close()
    end(rundir, writer)
    assert log.read(rundir.path, 7).data == b"after\n"
    assert log.read(rundir.path, 7).dropped_ranges == ((7, 15),)
    assert log.state(rundir.path) == log.LogState(21, True, 8, "No space left on device")


def test_disk_that_takes_a_part_keeps_that_part(rundir, written, monkeypatch):
    writer = written((STDOUT, b"start\n"), close=False)
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:17]))
    writer.write(STDOUT, b"0123456789abcdefghij\n")
    writer.close()
    end(rundir, writer)
    chunk = log.read(rundir.path)
    assert chunk.data == b"start\n0123456789abcdefg"
    assert not chunk.complete
    assert log.read(rundir.path, chunk.end).complete


def test_time_of_each_read_is_kept(rundir, written, monkeypatch):
    clock = Mock(time=Mock(side_effect=[100.0, 100.5]), monotonic=time.monotonic)  # not that of all other threads
    monkeypatch.setattr(logwriter, "time", clock)
    written((STDOUT, b"one"), (STDOUT, b"two"))
    assert [entry.at for entry in log.entries(rundir.path)] == [100.0, 100.5]


def test_entries_from_inside_a_read(rundir, written):
    written((STDOUT, b"aaa"), (STDERR, b"bbb"))
    assert [(e.offset, e.data) for e in log.entries(rundir.path, 4)] == [(4, b"bb")]
