"""The files that a job leaves in its output folder."""

import os

import pytest

from jobs.execution.mask import Mask
from jobs.execution.outputs import MOST_FILES, listed, open_output, settle
from jobs.execution.rundir import RunDir


@pytest.fixture
def left(tmp_path):
    (tmp_path / "output" / "plots").mkdir(parents=True)
    return tmp_path / "output"


def settled(folder, cap=1000, secrets=()):
    said = []
    with RunDir(str(folder.parent)) as rundir:
        settle(rundir, cap, said.append, Mask(secrets))
    return said


def test_files_are_listed_with_their_paths(left):
    (left / "b.txt").write_text("22")
    (left / "plots" / "a.png").write_text("1")
    assert [(one.name, one.size) for one in listed(left.parent)] == [("b.txt", 2), ("plots/a.png", 1)]


def test_no_folder_is_no_output(tmp_path):
    assert listed(tmp_path) == []


def test_file_that_goes_meanwhile_hides_no_other(left, monkeypatch):
    """A job that renamed its files while somebody looked made a page of an error."""
    (left / "b.txt").write_text("22")
    there = os.listdir
    monkeypatch.setattr(os, "listdir", lambda fd: ["a.tmp", *there(fd)])
    assert [one.name for one in listed(left.parent)] == ["b.txt"]


@pytest.mark.parametrize("name", [b"a\nb", b"\xff.png", b"plots/\x1b[2J"])
def test_name_that_no_page_can_have_is_not_kept(left, name):
    """Such a one made an error of the page of its instance."""
    (left / os.fsdecode(name)).write_text("1")
    assert listed(left.parent) == []
    [said] = settled(left)
    assert said.isprintable()
    assert said.endswith("was not kept: control characters and bytes that are no UTF-8 make no name")
    assert not (left / os.fsdecode(name)).exists()


@pytest.mark.parametrize("name", ["for-s3cr3t/pw", "plots/s3cr3t%2Fpw.txt"])
def test_name_with_a_secret_is_not_kept(left, name):
    """Page and API told it: only what is within a file is the job's own business."""
    (left / name).parent.mkdir(exist_ok=True)
    (left / name).write_text("1")
    (left / "other").write_text("1")
    [said] = settled(left, secrets=["s3cr3t/pw"])
    assert "********" in said
    assert said.endswith("was not kept: its name has a secret in it")
    assert [one.name for one in listed(left.parent)] == ["other"]


def test_folder_that_the_job_closed_counts(left):
    (left / "plots" / "a.png").write_text("x" * 2000)
    (left / "plots").chmod(0)
    assert [one.name for one in listed(left.parent)] == ["plots/a.png"]
    (left / "plots").chmod(0)
    assert settled(left) == ["output 'plots/a.png' of 2,000 bytes was not kept: together they may have 1,000"]


def test_the_largest_goes_first_when_all_is_too_much(left):
    for name, size in (("a", 400), ("b", 700), ("c", 300)):
        (left / name).write_text("x" * size)
    assert settled(left) == ["output 'b' of 700 bytes was not kept: together they may have 1,000"]
    assert [one.name for one in listed(left.parent)] == ["a", "c"]


def test_too_many_files_are_not_kept(left):
    for n in range(MOST_FILES + 2):
        (left / str(n)).touch()
    assert len(settled(left)) == 2
    assert len(listed(left.parent)) == MOST_FILES


def test_what_is_no_file_goes(left):
    (left / "link").symlink_to("/etc/passwd")
    os.mkfifo(left / "plots" / "fifo")
    assert len(settled(left)) == 2
    assert listed(left.parent) == []


def test_an_empty_folder_goes(left):
    (left / "plots").rmdir()
    assert settled(left) == []
    assert not left.exists()


def test_a_folder_that_the_job_removed_is_none(tmp_path):
    assert settled(tmp_path / "output") == []


@pytest.mark.parametrize(
    "name", ["../spec.json", "plots/../../spec.json", "link", "out/x", "plots", "", "no", "fifo", "/etc/passwd"]
)
def test_nothing_outside_is_opened(left, name):
    (left.parent / "spec.json").write_text("{}")
    (left / "link").symlink_to("/etc/passwd")
    (left / "out").symlink_to("/etc")
    os.mkfifo(left / "fifo")
    with pytest.raises(FileNotFoundError):
        open_output(left.parent, name)


def test_a_file_in_a_folder_is_opened(left):
    (left / "plots" / "a.png").write_text("png")
    with os.fdopen(open_output(left.parent, "plots/a.png")) as file:
        assert file.read() == "png"


def test_what_lies_too_deep_is_not_kept(left):
    """It was neither counted nor listed, and stayed."""
    deep = left.joinpath(*["d"] * 22)
    deep.mkdir(parents=True)
    (deep / "a").write_text("x" * 2000)
    (left / "b").write_text("1")
    assert settled(left)[0].endswith("was not kept: folders may be 20 deep")
    assert [path.name for path in left.rglob("*") if path.is_file()] == ["b"]


def test_what_lies_far_too_deep_costs_the_attempt_nothing(left):
    """Its runner failed over it, and the attempt was lost."""
    at = os.open(left, os.O_RDONLY)
    for _ in range(2000):
        os.mkdir("d", dir_fd=at)
        inner = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)
    (left / "b").write_text("1")
    [said] = settled(left)
    assert said.endswith("was not kept: folders may be 20 deep")
    assert [one.name for one in listed(left.parent)] == ["b"]
