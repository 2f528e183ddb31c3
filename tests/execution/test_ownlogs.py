"""Logs of launchers and hosts."""

import pytest

from jobs.execution import ownlogs


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.setattr(ownlogs, "MOST_BYTES", 10)
    return tmp_path / "callables.log"


def test_log_that_grew_too_large_begins_anew(log):
    with log.open("ab", buffering=0) as writer:
        writer.write(b"eleven long")
        ownlogs.bound(log.parent)
        writer.write(b"new")
    assert (log.read_bytes(), (log.parent / "callables.log.1").read_bytes()) == (b"new", b"eleven long")


def test_small_log_is_left_alone(log):
    log.write_bytes(b"ten longer")
    ownlogs.bound(log.parent)
    assert (log.read_bytes(), len(list(log.parent.iterdir()))) == (b"ten longer", 1)
