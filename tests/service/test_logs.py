"""What the service says of itself, where the disk has no room for it."""

import errno
import logging
from unittest.mock import Mock

import pytest

from jobs.service.logs import LogFile


@pytest.fixture
def file(tmp_path):
    file = LogFile(tmp_path / "service.log", maxBytes=1000, backupCount=1)
    yield file
    file.close()


def test_line_that_a_full_disk_refuses_makes_no_traceback(file, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(file, "flush", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
        file.handle(logging.makeLogRecord({"msg": "said"}))
        file.flush.assert_called_once()
    assert capsys.readouterr().err == ""


def test_line_that_cannot_be_made_says_where_it_is_written(file, capsys):
    file.handle(logging.makeLogRecord({"msg": "%d", "args": ("text",)}))
    assert "Message: '%d'" in capsys.readouterr().err
