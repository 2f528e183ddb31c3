"""A job that takes the disk for itself is told, then ended."""

from pathlib import Path

import pytest

from jobs.execution import diskuse
from jobs.execution.diskuse import DiskUse
from jobs.execution.foldertree import size_of
from jobs.execution.rundir import RunDir

MB = 1024 * 1024


@pytest.fixture
def rundir(tmp_path, monkeypatch):
    monkeypatch.setattr(diskuse, "LEAST_BEYOND", 0)
    (tmp_path / "output" / "in").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    with RunDir(str(tmp_path)) as rundir:
        yield rundir


def write(rundir, name, size):
    (Path(rundir.path) / name).write_bytes(b"x" * size)


def test_outputs_beyond_the_cap_are_told_once(rundir):
    said = []
    use = DiskUse(rundir, MB, 0, said.append)
    assert use.look(1e9) is None
    write(rundir, "output/in/a", MB + 8192)
    assert [use.look(2e9), use.look(3e9)] == [None, None]
    [sentence] = said
    assert sentence.endswith("by now; at the end no more than 1 MB of them are kept")


def test_outputs_far_beyond_the_cap_end_the_job(rundir):
    write(rundir, "output/in/a", 2 * MB + 8192)
    passed = DiskUse(rundir, MB, 0, [].append).look(1e9)
    assert passed.kind == "failed"
    assert passed.error == "had outputs of more than 2 MB, of which 1 MB are kept (ROTA_OUTPUT_CAP_MB), and was ended"


def disk_with(monkeypatch, free):
    monkeypatch.setattr("os.fstatvfs", lambda _: type("Disk", (), {"f_bavail": free, "f_frsize": 1}))


@pytest.mark.parametrize(("free", "size", "ends"), [(MB, 3, True), (MB, 1, False), (3 * MB, 3, False)])
def test_large_job_on_a_full_disk_is_ended(rundir, monkeypatch, free, size, ends):
    disk_with(monkeypatch, free - 1)
    write(rundir, "work/a", size * MB)
    passed = DiskUse(rundir, 100 * MB, 2 * MB, [].append).look(1e9)
    assert bool(passed) == ends
    if passed:
        assert passed.error.endswith("1 MB left on the disk, and its files take more than 2 MB (ROTA_MIN_FREE_DISK_MB)")


def test_no_limit_of_free_space_ends_nothing(rundir, monkeypatch):
    disk_with(monkeypatch, 0)
    write(rundir, "work/a", 3 * MB)
    assert DiskUse(rundir, 100 * MB, 0, [].append).look(1e9) is None


def test_look_ends_after_so_many_files(tmp_path):
    for number in range(20):
        (tmp_path / str(number)).write_bytes(b"x" * 4096)
    assert size_of(str(tmp_path), most_entries=10) < size_of(str(tmp_path))
    assert size_of(str(tmp_path), enough=8192) < size_of(str(tmp_path))


def test_link_in_place_of_the_folder_is_not_followed(rundir, tmp_path):
    (tmp_path / "work").rmdir()
    (tmp_path / "work").symlink_to("/usr")
    assert size_of(str(tmp_path / "work")) == 0


def test_job_is_ended_for_its_outputs(attempt):
    body = "head -c 110000000 /dev/zero > big; mv big $ROTA_OUTPUT/; sleep 600"  # a look may come while it is written
    running = attempt(body, output_cap_bytes=1000)
    result = running.result()
    assert result.kind == "failed"
    assert "ROTA_OUTPUT_CAP_MB" in result.error
    assert "[rota] output 'big' of 110,000,000 bytes was not kept" in running.text
