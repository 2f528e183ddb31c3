"""What is on the disk of a node of environments: whole or not there."""

import os
import time
from pathlib import Path
from unittest.mock import Mock

import pytest

from jobs.execution import installed
from jobs.execution.installed import USABLE, EnvironmentFolder, Facts

FACTS = Facts("3.12.4", "", ["tiny"], 0.0, 1.0, 1)


@pytest.fixture
def folder(tmp_path):
    made = EnvironmentFolder(tmp_path)
    made.make()
    return made


def complete(folder, key="key"):
    made = folder.new(key)
    (made / "bin").mkdir(parents=True)
    (made / "bin/python").symlink_to("/bin/sh")
    (made / "lib").mkdir()
    (made / "pyvenv.cfg").touch()
    return folder.complete(made, key, FACTS)


def test_all_is_on_the_disk_before_it_has_its_name(folder, monkeypatch):
    """After a power cut files were empty under the name of a finished environment."""
    at_write, write_out = [], installed.write_out
    monkeypatch.setattr(
        installed,
        "write_out",
        lambda made: (
            at_write.append((sorted(path.name for path in made.iterdir()), folder.path("key").exists())),
            write_out(made),
        ),
    )
    assert folder.find("key") is None
    complete(folder)
    assert at_write == [(["bin", "in-use", "lib", "pyvenv.cfg", "rota.json"], False)]
    assert folder.find("key") == folder.path("key")


def test_what_the_disk_does_not_keep_gets_no_name(folder, monkeypatch):
    def refuse(_):
        raise OSError("Input/output error")

    monkeypatch.setattr(installed, "write_out", refuse)
    with pytest.raises(OSError, match="Input/output"):
        complete(folder)
    assert not folder.path("key").exists()


@pytest.mark.parametrize("name", [*USABLE, "rota.json", "bin/python"])
def test_one_that_somebody_damaged_is_not_found(folder, name):
    path = complete(folder) / name
    path.rmdir() if path.is_dir() else path.unlink()
    assert folder.find("key") is None
    complete(folder)
    assert folder.find("key")


@pytest.mark.parametrize(("days", "goes"), [(0, False), (99_999, True)])
def test_cache_goes_when_the_machine_died_in_a_build(folder, days, goes):
    """What was fetched may be empty files by then, of which uv makes environments."""
    (folder.cache / "archive").touch()
    half = folder.new("key")
    half.mkdir()
    os.utime(half, (time.time() - days * 86_400,) * 2)
    left = folder.left_over()
    assert half in left
    assert (folder.cache / "archive").exists() != goes
    assert folder.cache.stat().st_mode & 0o077 == 0
    for path in left:
        installed.remove(path)
    assert [path.name for path in Path(folder.root).iterdir()] == ["cache"]


def test_use_of_which_the_disk_takes_no_note_is_no_error(folder, monkeypatch):
    """Whoever waited for the environment did so for ever."""
    complete(folder)
    with monkeypatch.context() as patch:
        patch.setattr(installed.os, "utime", Mock(side_effect=OSError(28, "No space left on device")))
        folder.used("key")
        installed.os.utime.assert_called_once()
