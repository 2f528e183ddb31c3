"""What a job has mounted in its folders is none of the files that are removed with these."""

import ctypes
import subprocess

import pytest

from jobs.execution import mounts
from jobs.execution.foldertree import remove_tree, size_of


@pytest.fixture
def precious(tmp_path):
    """A folder that a job of root mounts into its own; skips where nobody may mount."""
    (folder := tmp_path / "precious").mkdir()
    (folder / "file").write_text("x" * 100)
    (folder / "link").symlink_to("file")
    (probe := tmp_path / "probe").mkdir()
    if subprocess.run(["/bin/mount", "--bind", folder, probe], check=False, capture_output=True).returncode:
        pytest.skip("this user may not mount")
    mounts.release(str(probe))
    yield folder
    mounts.release(str(tmp_path))


def test_mount_in_the_workspace_outlives_it(attempt, precious):
    """The folder that was mounted was emptied with the workspace."""
    running = attempt(f"mkdir 'a b'; mount --bind {precious} 'a b'; touch c")
    assert running.result().kind == "success"
    assert sorted(one.name for one in precious.iterdir()) == ["file", "link"]
    assert not (running.path / "work").exists()


def test_mount_in_the_outputs_is_no_output(attempt, precious):
    """Links and files in what was mounted were removed, as outputs that may not be kept."""
    running = attempt(f"mkdir $ROTA_OUTPUT/a; mount --bind {precious} $ROTA_OUTPUT/a", output_cap_bytes=10,
                      env={"ROTA_OUTPUT": "../output"})  # fmt: skip
    assert running.result().kind == "success"
    assert sorted(one.name for one in precious.iterdir()) == ["file", "link"]
    assert mounts.mounted_in(str(running.path)) == []


def test_mount_takes_nothing_of_the_folders_disk(tmp_path, precious):
    (place := tmp_path / "run" / "a b").mkdir(parents=True)
    before = size_of(str(tmp_path / "run"))
    (precious / "large").write_bytes(b"x" * 1_000_000)
    subprocess.run(["/bin/mount", "--bind", precious, place], check=True)
    for path, size in ((str(tmp_path / "run"), before), (str(place), 0)):
        assert size_of(path, foreign=mounts.places_in(path)) <= size


def test_mount_in_a_log_outlives_its_retention(tmp_path, precious):
    (log := tmp_path / "run" / "log").mkdir(parents=True)
    subprocess.run(["/bin/mount", "--bind", precious, log], check=True)
    remove_tree(str(tmp_path / "run"))
    assert sorted(one.name for one in precious.iterdir()) == ["file", "link"]
    assert not (tmp_path / "run").exists()


def test_link_is_no_way_to_other_mounts(tmp_path):
    (tmp_path / "work").symlink_to("/")
    assert mounts.mounted_in(str(tmp_path / "work")) == []
    assert b"/proc" in mounts.mounted_in("/proc")


def test_mount_that_stays_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(mounts, "mounted_in", lambda path: [b"/nowhere"])
    with pytest.raises(OSError, match="something is mounted there: '/nowhere'"):
        mounts.release(str(tmp_path))
    assert ctypes.get_errno()
