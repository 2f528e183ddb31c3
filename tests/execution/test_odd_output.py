"""Odd files in a job's log/ are passed over, and odd words in its result about its log."""

import os
import shutil
import stat
from unittest.mock import Mock

import pytest

from jobs.api.outputs import latest_output
from jobs.core.states import OutcomeKind, Status
from jobs.execution import log
from jobs.execution.log import STDERR, STDOUT
from jobs.execution.logwriter import ENTRY, LogWriter, segment_name
from jobs.execution.rundir import LOG, RESULT, RunDir
from tests.waiting import until

LATER = 5_000
DATA, INDEX = segment_name(0, ".log"), segment_name(0, ".idx")


def odd_fifo(folder):
    os.mkfifo(folder / segment_name(LATER, ".log"))


def odd_link(folder):
    (folder / segment_name(LATER, ".log")).symlink_to("/etc/passwd")


def odd_directory(folder):
    (folder / segment_name(LATER, ".log")).mkdir()


def odd_name(folder):
    (folder / "foo.log").write_text("x")
    (folder / "-0000000000000000005.log").write_text("x")


def odd_index(folder):
    (folder / INDEX).unlink()
    os.mkfifo(folder / INDEX)


def empty_index(folder):
    (folder / INDEX).write_bytes(b"")


def torn_index(folder):
    (folder / INDEX).write_bytes((folder / INDEX).read_bytes()[:10])


def lying_index(folder):
    (folder / INDEX).write_bytes(ENTRY.pack(2**64 - 1, 2**64 - 1, 200) + ENTRY.pack(0, 2**64 - 1, STDERR))


ODD = [odd_fifo, odd_link, odd_directory, odd_name, odd_index, empty_index, torn_index, lying_index]


@pytest.fixture
def path(tmp_path):
    """A run directory with the output of a job."""
    path = tmp_path / "runs" / "1" / "1-tttttttt"
    path.mkdir(parents=True)
    with RunDir(str(path)) as rundir:
        writer = LogWriter(rundir, 1 << 20)
        writer.write(STDOUT, b"out\n")
        writer.write(STDERR, b"err\n")
        writer.close()
    return path


@pytest.mark.parametrize("put", ODD)
def test_odd_file_in_the_log_is_passed_over(path, put):
    put(path / LOG)
    assert log.read(path).data == b"out\nerr\n"
    assert log.tail_text(path, 4) == "err\n"
    assert set(log.read(path, stream=STDERR).data) <= set(b"out\nerr\n")
    assert all(entry.at < 2**33 for entry in log.entries(path))


def test_log_that_its_owner_closed_reads_as_nothing(path):
    """It was read again and again for ever."""
    (path / LOG / DATA).chmod(0)
    assert log.read(path).data == b""
    assert log.tail_text(path, 500) == ""


def test_closed_log_directory_is_opened_again(path):
    (path / LOG).chmod(0)
    assert log.read(path).data == b"out\nerr\n"
    assert stat.S_IMODE((path / LOG).stat().st_mode) == 0o700


def test_log_that_is_a_link_reads_as_nothing(path, tmp_path):
    (path / LOG).rename(tmp_path / "elsewhere")
    (path / LOG).symlink_to(tmp_path / "elsewhere")
    assert log.read(path).data == b""


def test_huge_hollow_log_costs_no_memory(path):
    """Its tail was padded to its whole length."""
    os.truncate(path / LOG / DATA, 1 << 40)
    assert len(log.read(path, (1 << 40) - 100, 100, STDERR).data) == 100


@pytest.mark.parametrize("said", [{"bytes": "x"}, {"bytes": -1, "lost_bytes": []}, {"error": 5}, {"bytes": None}, "x"])
def test_odd_words_about_the_log_are_passed_over(path, said):
    with RunDir(str(path)) as rundir:
        rundir.write_json(RESULT, {"log": said})
    assert log.state(path) == log.LogState(8, complete=True)


def instance_of(path, settings, status=Status.FAILED):
    settings.DATA_DIR = path.parents[2]
    attempt = Mock(instance_id=1, number=1, token="t" * 32)
    return Mock(attempts=Mock(all=lambda: [attempt]), status=status, error="exited with code 1")


@pytest.mark.parametrize("put", ODD)
def test_odd_log_does_not_hide_the_list(path, put, settings):
    put(path / LOG)
    assert latest_output(instance_of(path, settings), 500).printed == "out\nerr\n"


def test_unreadable_result_does_not_hide_the_list(path, settings):
    (path / RESULT).mkdir()
    assert "holds a directory" in latest_output(instance_of(path, settings), 500).error


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), ValueError("odd")])
@pytest.mark.parametrize("part", ["tail_text", "read_text"])
def test_unreadable_log_does_not_hide_the_list(path, settings, monkeypatch, error, part):
    monkeypatch.setattr(log, part, Mock(side_effect=error))
    assert str(error) in latest_output(instance_of(path, settings), 500).error


def test_log_directory_that_was_removed_is_made_anew(path):
    with RunDir(str(path)) as rundir:
        shutil.rmtree(path / LOG)
        writer = LogWriter(rundir, 16_384)
        writer.write(STDOUT, b"a" * 4_096)
        shutil.rmtree(path / LOG)
        writer.write(STDOUT, b"later\n")
        writer.close()
    assert (writer.lost_bytes, writer.error) == (0, "")
    assert log.read(path).data == b"later\n"


def test_job_that_made_its_log_directory_has_its_output(node):
    ref = node.launch("mkdir -p ../log; echo x > ../log/foo.log; echo printed")
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS
    until(lambda: node.text(ref) == "printed\n")
