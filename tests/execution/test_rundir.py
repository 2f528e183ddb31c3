"""The run directory: durable files, a claim that exactly one may win, moments that survive a reboot."""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from jobs.execution import claim, moment
from jobs.execution.moment import Moment
from jobs.execution.rundir import RESULT, SPEC, BrokenFileError, RunDir
from jobs.execution.spec import FormatError, Result, Spec


@pytest.fixture
def rundir(tmp_path):
    path = tmp_path / "żółw dir with spaces" / ("long" * 50)
    path.mkdir(parents=True)
    with RunDir(str(path)) as opened:
        yield opened


def descriptors():
    return {path.name for path in Path("/proc/self/fd").iterdir()}


HOLD = """
import sys
from jobs.execution.claim import claim_as_runner
from jobs.execution.rundir import RunDir
print("held" if claim_as_runner(RunDir(sys.argv[1])) else "refused", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def runner(rundir):
    """Start a process that claims the directory as a runner does: (process, what it says)."""
    started = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, rundir.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.communicate("")


def test_json_written_is_json_read(rundir):
    rundir.write_json(SPEC, {"name": "\udc80 ż"})
    assert rundir.read_json(SPEC) == {"name": "\udc80 ż"}
    assert os.stat(SPEC, dir_fd=rundir.fd).st_mode & 0o777 == 0o600


def test_missing_file_reads_as_none(rundir):
    assert rundir.read_json(RESULT) is None


def test_torn_file_is_named_with_its_content(rundir):
    rundir.write(RESULT, b'{"kind": "succ')
    with pytest.raises(BrokenFileError, match=r'result\.json holds b.\{"kind": "succ'):
        rundir.read_json(RESULT)


def test_closed_directory_is_written_to(rundir):
    """Its runner could not write its result for as long as it tried."""
    os.fchmod(rundir.fd, 0)
    rundir.write_json(RESULT, {"n": 1})
    assert os.fstat(rundir.fd).st_mode & 0o777 == 0o700


def test_interrupted_write_leaves_old_content(rundir, monkeypatch):
    rundir.write_json(RESULT, {"n": 1})
    monkeypatch.setattr(os, "write", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        rundir.write_json(RESULT, {"n": 2})
    assert rundir.read_json(RESULT) == {"n": 1}


def test_spec_survives_the_way_through_json(rundir):
    now = moment.now()
    spec = Spec("t", 1, 2, "command", "true", "/usr/bin/python3", {"A": "b"}, now, [0, 1], start_before=now)
    rundir.write_json(SPEC, spec.to_json())
    assert Spec.from_json(rundir.read_json(SPEC)) == spec


def test_another_format_is_refused_with_a_sentence():
    data = Result("t", "success", 1.0).to_json()
    with pytest.raises(FormatError, match="format 99, this version reads format 1"):
        Result.from_json({**data, "format": 99})
    with pytest.raises(FormatError, match="colour in it"):
        Result.from_json({**data, "colour": "red"})


@pytest.mark.parametrize("value", ["{", '"\\u0000"', "1e999", '"\\udcff"', "\udcff"])
def test_value_that_is_no_result_is_refused(value):
    """A job may write into its run directory; no page could show such a one."""
    data = Result("t", "success", 1.0).to_json()
    with pytest.raises(FormatError, match=r"value: result (is|has)"):
        Result.from_json({**data, "value": value})


def test_first_runner_claims_second_is_refused(runner, rundir):
    first, said = runner()
    assert said == "held"
    assert claim.holder(rundir) == first.pid
    assert runner()[1] == "refused"


def test_recovery_finds_a_living_runner(runner, rundir):
    process, _ = runner()
    assert claim.claim_as_recovery(rundir) is None
    pid, pidfd = claim.open_holder(rundir)
    os.close(pidfd)
    assert pid == process.pid


def test_recovery_finds_a_runner_gone(runner, rundir):
    process, _ = runner()
    process.communicate("")
    assert claim.holder(rundir) is None
    assert claim.open_holder(rundir) is None
    assert claim.claim_as_recovery(rundir) == claim.RUNNER


def test_late_runner_is_refused_after_recovery(runner, rundir):
    assert claim.claim_as_recovery(rundir) == claim.RECOVERY
    assert claim.claim_as_recovery(rundir) == claim.RECOVERY
    assert runner()[1] == "refused"


def test_runner_between_create_and_lock_is_fenced(rundir, monkeypatch):
    """It has created the claim and sleeps; recovery decides; it must not start the job when it wakes."""
    lock = claim.lock

    def late_lock(fd):
        monkeypatch.setattr(claim, "lock", lock)
        pid = os.fork()
        if pid == 0:
            os._exit(claim.claim_as_recovery(rundir) or 99)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == claim.RECOVERY
        return lock(fd)

    monkeypatch.setattr(claim, "lock", late_lock)
    before = descriptors()
    assert claim.claim_as_runner(rundir) is None
    assert descriptors() <= before  # in a host, what it held would count as alive


@pytest.mark.parametrize("failing", ["said", "sync"])
def test_claim_that_the_disk_refuses_holds_nothing(rundir, monkeypatch, failing):
    before = descriptors()
    monkeypatch.setattr(claim, failing, Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        claim.claim_as_runner(rundir)
    assert descriptors() <= before


def test_late_runner_cannot_claim_a_removed_directory(rundir):
    Path(rundir.path).rmdir()
    Path(rundir.path).mkdir()
    assert claim.claim_as_runner(rundir) is None
    assert not list(Path(rundir.path).iterdir())


def test_moments_of_one_boot_ignore_the_wall_clock():
    before, after = Moment("boot", 10.0, 1000.0), Moment("boot", 15.0, 400.0)
    assert after.seconds_since(before) == 5.0


def test_moments_of_two_boots_use_the_wall_clock():
    before, after = Moment("one", 5000.0, 1000.0), Moment("two", 15.0, 1060.0)
    assert after.seconds_since(before) == 60.0


def test_wall_deadline_becomes_a_boot_deadline():
    now = Moment("boot", 10.0, 1000.0)
    assert now.after_wall(1030.0) == Moment("boot", 40.0, 1030.0)
