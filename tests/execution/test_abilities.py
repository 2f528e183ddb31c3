"""What a machine cannot enforce is said, and nothing is said of what it can."""

import errno
import os
import shutil
from pathlib import Path
from unittest.mock import Mock

import pytest

from jobs.execution import cgroup_search, cgroups
from jobs.execution.abilities import missing, sentences
from jobs.execution.cgroup_search import CONTROLLERS, Found, candidates, hierarchies, search

ALL = Found(dict.fromkeys(CONTROLLERS, "/there"), {})
V2 = "25 1 0:22 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = "33 31 0:30 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
DISK = "25 1 0:23 / /disk rw - ext4 /dev/vda rw\n"


def test_machine_that_can_do_all_has_nothing_to_say():
    assert sentences(ALL, "root", root=True, schedulers=["none [mq-deadline]"]) == []


def test_each_thing_that_cannot_be_enforced_is_said_with_its_reason():
    none = Found({}, dict.fromkeys(CONTROLLERS, "/sys/fs/cgroup: Read-only file system"))
    said = sentences(none, "rota", root=False, schedulers=["[none] bfq"])
    assert [text.split(":")[0] for text in said] == [
        "Cores", "CPU quota", "Memory", "Number of processes", "Users", "I/O priority",
    ]  # fmt: skip
    assert "no cgroup may be made here (/sys/fs/cgroup: Read-only file system)" in said[0]
    assert "affinity, which they can undo; they are put back every 0.25 s" in said[0]
    assert "All jobs run as rota" in said[4]


def test_unconfined_cores_are_said_exactly_where_they_are():
    """What is said of this machine is what was tried on it."""
    fenced = "cpuset" in cgroup_search.found().tops
    assert any(text.startswith("Cores:") for text in missing()) is not fenced


# --- Where they may be made ---


def test_mounted_hierarchies_are_told_from_other_file_systems():
    assert hierarchies(DISK + V2 + V1) == [("/sys/fs/cgroup", ()), ("/sys/fs/cgroup/cpu", ("rw", "cpu", "cpuacct"))]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("/system.slice/rota.service/main", ["/sys/fs/cgroup/system.slice/rota.service", "/sys/fs/cgroup"]),
        ("/system.slice/rota.service", ["/sys/fs/cgroup"]),
        ("/", ["/sys/fs/cgroup"]),
    ],
)
def test_cgroup_above_ours_is_tried_first_if_it_is_no_slice(own, expected, monkeypatch):
    monkeypatch.setattr(cgroup_search, "offers", lambda top, controller: True)
    assert candidates(hierarchies(V2), f"1:name=systemd:/x\n0::{own}\n", "memory") == expected


def test_kernel_without_cgroups_says_so(monkeypatch):
    """It has no /proc/self/cgroup, for which the service did not start."""
    monkeypatch.setattr(cgroups, "read", lambda file: "")
    assert cgroup_search.found.__wrapped__().refusals.keys() == set(CONTROLLERS)


def test_file_of_a_cgroup_that_goes_just_then_is_empty(monkeypatch):
    monkeypatch.setattr(os, "open", Mock(side_effect=OSError(errno.ENODEV, "No such device")))
    assert cgroups.read("/sys/fs/cgroup/x/cgroup.procs") == ""


def test_cgroup_that_goes_just_then_cannot_be_written(monkeypatch, tmp_path):
    """It counted as one that refuses: the kernel held the job to nothing from then on."""
    (tmp_path / "cgroup.procs").touch()
    monkeypatch.setattr(os, "write", Mock(side_effect=OSError(errno.ENODEV, "No such device")))
    with pytest.raises(FileNotFoundError):
        cgroups.write(f"{tmp_path}/cgroup.procs", "1")


def test_machine_without_cgroups_says_so():
    found = search(DISK, "")
    assert found.tops == {}
    assert set(found.refusals.values()) == {"no cgroup file system with it is mounted"}


def test_folder_that_is_no_cgroup_is_refused_with_the_systems_words(tmp_path):
    found = search(f"1 1 0:1 / {tmp_path} rw - cgroup cgroup rw,memory\n", "")
    assert found.refusals["memory"] == f"{tmp_path}: No such file or directory"
    assert [folder for folder, _, _ in os.walk(tmp_path)] == [str(tmp_path)]


# --- What is written ---


@pytest.fixture
def v2(tmp_path, monkeypatch):
    """A folder that makes the files of a cgroup of version 2 in each folder made in it."""
    mkdir = os.mkdir

    def make(path, *rest):
        mkdir(path, *rest)
        names = ("cgroup.subtree_control", "cgroup.procs", "cpuset.cpus", "cpu.max", "memory.max", "memory.oom.group")
        for name in (*names, "pids.max", "cgroup.kill", "memory.events"):
            Path(path, name).touch()
        Path(path, "cgroup.controllers").write_text("cpuset cpu memory pids")

    monkeypatch.setattr(os, "mkdir", make)
    make(tmp_path / "top")
    return tmp_path / "top"


@pytest.mark.parametrize(
    ("controller", "amount", "file", "written"),
    [
        ("cpuset", "0,2", "cpuset.cpus", "0,2"),
        ("cpu", "2", "cpu.max", "200000 100000"),
        ("memory", "1000", "memory.max", "1000"),
        ("memory", "1000", "memory.oom.group", "1"),
        ("pids", "7", "pids.max", "7"),
    ],
)
def test_limits_of_version_two_are_written(v2, controller, amount, file, written):
    folder = Path(cgroups.make(f"{v2}/rota", "token", controller, amount))
    assert (folder / file).read_text() == written
    assert (v2 / "rota" / "cgroup.subtree_control").read_text() == f"+{controller}"


def test_what_is_swept_while_it_is_made_is_made_again(v2, monkeypatch):
    """By a service that ended or began just then, since it was empty: the job's runner took it for forbidden."""
    sweeps = iter([lambda: shutil.rmtree(v2 / "rota")])
    write = cgroups.write
    cgroups.make_base(f"{v2}/rota", "memory")
    monkeypatch.setattr(cgroups, "write", lambda *given: (next(sweeps, list)(), write(*given)))
    folder = Path(cgroups.make(f"{v2}/rota", "token", "memory", "1000"))
    assert (folder / "memory.max").read_text() == "1000"


def test_kill_of_version_two_is_one_write(v2):
    folder = Path(cgroups.make(f"{v2}/rota", "token", "kill", ""))
    cgroups.kill_all(str(folder))
    assert (folder / "cgroup.kill").read_text() == "1"


@pytest.mark.parametrize("text", ["low 0\noom 3\noom_kill 2\n", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"])
def test_kills_for_memory_are_counted(tmp_path, text):
    (tmp_path / "memory.events").write_text(text)
    assert cgroups.oom_kills(str(tmp_path)) == 2


def test_cgroup_that_is_gone_has_nothing_in_it(tmp_path):
    gone = str(tmp_path / "gone")
    cgroups.kill_all(gone)
    cgroups.remove({"memory": str(tmp_path)}, "gone")
    assert (cgroups.members(gone), cgroups.oom_kills(gone), cgroups.peak_bytes(gone)) == ([], 0, 0)
