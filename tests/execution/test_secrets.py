"""Secrets of an attempt: they reach the job, and nothing else ever holds them."""

import base64
import hashlib
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import pytest

from jobs.core.running import RunOptions
from jobs.core.states import OutcomeKind
from jobs.execution import markers, secretfiles
from jobs.execution.mask import Mask
from jobs.execution.program import StartError
from jobs.execution.rundir import STARTED, RunDir
from jobs.execution.secrets import GivenSecret, sealed, unsealed
from tests.execution.running import ROOT
from tests.waiting import until

VALUE = "s3cr3t-valüe-123 $(x) '\"\n second line"
DIGEST = hashlib.sha256(VALUE.encode()).hexdigest()
TOKEN = GivenSecret("API_TOKEN", VALUE, name="stripe")
FILE = GivenSecret("API_FILE", VALUE, as_file=True, name="stripe")


def secret_folders(node):
    prefix = secretfiles.prefix_of(str(node.data_dir / "runs"))
    return [name for name in os.listdir(secretfiles.MEMORY) if name.startswith(prefix)]  # noqa: PTH208 names


def start_method(node, ref):
    node.outcome(ref)
    with RunDir(str(node.path(ref))) as rundir:
        return rundir.read_json(STARTED)["start"]


def test_sealed_secrets_come_back_and_cannot_be_changed():
    fd = sealed([TOKEN, FILE])
    with pytest.raises(PermissionError):
        os.write(fd, b"x")
    assert unsealed(fd) == [TOKEN, FILE]


def test_value_is_in_no_representation():
    assert VALUE not in repr(TOKEN)
    assert "s3cr3t" not in repr(TOKEN)


@pytest.mark.parametrize("start", ["cold", "warm"])
def test_job_has_them_and_the_run_directory_does_not(node, start):
    script = f"""
import ctypes, hashlib, os, sys
assert ctypes.CDLL(None).prctl(3) == 1, "its own user may look at it"
assert hashlib.sha256(os.environ["API_TOKEN"].encode()).hexdigest() == "{DIGEST}"
path = os.environ["API_FILE"]
assert open(path, "rb").read() == os.environ["API_TOKEN"].encode()
assert (os.stat(path).st_mode & 0o777, os.stat(os.path.dirname(path)).st_mode & 0o777) == (0o400, 0o700)
print("out:", os.environ["API_TOKEN"], end="")
print("err:", repr(os.environ["API_TOKEN"]), file=sys.stderr)
print("\\n::rota progress=0.5 text=" + os.environ["API_TOKEN"].splitlines()[0])
print('::rota result="' + os.environ["API_TOKEN"].splitlines()[1].strip() + '"')
open(os.environ["ROTA_PROGRESS_FILE"], "w").write("0.7 text=" + os.environ["API_TOKEN"])
"""
    until(lambda: start == "cold" or start_method(node, node.launch("", kind="script", instance_id=2)) == "warm")
    ref = node.launch(script, kind="script", secrets=(TOKEN, FILE), run=RunOptions(start=start))
    outcome = node.outcome(ref)
    assert (outcome.kind, outcome.error, outcome.result) == (OutcomeKind.SUCCESS, "", '"********"')
    assert "out:********" in node.text(ref).replace(" ", "")
    assert start_method(node, ref) == start
    assert markers.read_progress(node.path(ref)).text == "********"
    kept = b"".join(file.read_bytes() for file in node.data_dir.rglob("*") if file.is_file())
    assert not any(part in kept for part in (b"s3cr3t", b"second line", base64.b64encode(VALUE.encode())))
    assert secret_folders(node) == []


def test_clean_up_and_what_it_prints(node):
    run = RunOptions(cleanup_command='cat "$API_FILE"; echo "$API_TOKEN"', cleanup_after=("success",))
    ref = node.launch("true", secrets=(TOKEN, FILE), run=run)
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS
    assert node.text(ref).count("********") == 2
    assert "s3cr3t" not in node.text(ref)


def descriptors(pid):
    """What they lead to, of those that are not closed while one looks."""
    found = []
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(str(fd.readlink()))
    return " ".join(found)


def test_no_command_line_or_descriptor_has_a_value(node):
    ref = node.launch("exec sleep 600", secrets=(TOKEN,))
    node.reports.started(ref)
    for pid in (node.runner_pid(ref), node.launcher_pid(), os.getpid()):
        assert b"s3cr3t" not in Path(f"/proc/{pid}/cmdline").read_bytes()
        with suppress(PermissionError):  # who is not root may not even look
            assert b"s3cr3t" not in Path(f"/proc/{pid}/environ").read_bytes()
        until(lambda pid=pid: "rota-secrets" not in descriptors(pid))  # the launcher closes them when it has answered
    node.executor.cancel(ref)
    node.outcome(ref)


def test_rejected_start_leaves_no_file(node):
    ref = node.launch("true", secrets=(TOKEN, FILE), run=RunOptions(working_directory="/s3cr3t-valüe-123"))
    assert node.outcome(ref).kind == OutcomeKind.REJECTED
    assert secret_folders(node) == []


def test_unreadable_secrets_reject_the_start(node):
    ref = node.launch("true", secrets_error="secret stripe cannot be read here")
    outcome = node.outcome(ref)
    assert (outcome.kind, outcome.error) == (
        OutcomeKind.REJECTED,
        "could not be started: secret stripe cannot be read here",
    )
    assert outcome.error in node.text(ref)


def test_killed_launcher_is_asked_again_with_them(node):
    node.outcome(node.launch("true", instance_id=1))
    os.kill(node.launcher_pid(), signal.SIGSTOP)
    ref = node.launch('printf %s "$API_TOKEN" | sha256sum', instance_id=2, secrets=(TOKEN,))
    until(lambda: node.executor._starter._lines.cold._unanswered)
    os.kill(node.launcher_pid(), signal.SIGKILL)
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS
    assert DIGEST in node.text(ref)


def test_files_of_a_killed_runner_go_when_it_is_settled(node):
    ref = node.launch('cat "$API_FILE"; exec sleep 600', secrets=(FILE,))
    node.prints(ref, "********")
    os.kill(node.runner_pid(ref), signal.SIGKILL)
    assert node.outcome(ref).kind == OutcomeKind.LOST
    assert secret_folders(node) == []


def test_files_go_though_the_run_directories_are_gone(node):
    ref = node.launch('cat "$API_FILE"; exec sleep 600', secrets=(FILE,))
    node.prints(ref, "********")
    folder, runs = Path(secretfiles.folder_of(str(node.path(ref)))), node.data_dir / "runs"
    runs.rename(node.data_dir / "moved")
    assert folder.is_dir()
    os.kill(node.reports.started(ref).pid, signal.SIGKILL)
    until(lambda: not folder.exists())
    (node.data_dir / "moved").rename(runs)
    node.outcome(ref)


def test_service_that_opens_sweeps_what_nobody_settles(node):
    ref = node.launch('cat "$API_FILE"; exec sleep 600', secrets=(FILE,))
    node.prints(ref, "********")
    left = secretfiles.folder_of(str(node.path(ref)).replace("/1/1-", "/9/1-"))
    Path(left).mkdir()
    node.restart()
    assert secret_folders(node) == [Path(secretfiles.folder_of(str(node.path(ref)))).name]
    node.executor.recover(ref)
    node.executor.cancel(ref)
    node.outcome(ref)
    assert secret_folders(node) == []


def test_odd_claim_keeps_no_service_from_sweeping(tmp_path):
    """It did not open: a job had made a folder of its claim."""
    path = tmp_path / "runs/1/1-abc"
    (path / "claim").mkdir(parents=True)
    left = Path(secretfiles.folder_of(str(path)))
    left.mkdir()
    secretfiles.sweep(str(tmp_path / "runs"))
    assert not left.exists()


def test_secrets_that_did_not_arrive_start_nothing(attempt):
    result = attempt("echo here", secrets={"API_TOKEN": "stripe"}).result()
    assert (result.kind, result.node_refused) == ("lost", True)
    assert "its secrets did not reach its runner" in result.error


def test_no_memory_for_files_is_a_rejected_start(monkeypatch, tmp_path):
    monkeypatch.setattr(secretfiles, "MEMORY", str(tmp_path / "none"))
    with pytest.raises(StartError, match=r"API_FILE.*give them as variables"):
        secretfiles.give([FILE], str(tmp_path / "1" / "1-ab"), None)


def test_hidden_process_is_closed_to_its_own_user():
    code = """
import os, sys
sys.path.insert(0, sys.argv[1])
from jobs.execution.undumpable import hide_process
os.setresuid(65534, 65534, 65534) if os.getuid() == 0 else None
hide_process()
hidden = os.getpid()
if os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
for name in ("environ", "mem", "fd"):
    try:
        os.listdir(f"/proc/{hidden}/fd") if name == "fd" else open(f"/proc/{hidden}/{name}", "rb")
    except PermissionError:
        continue
    os._exit(1)
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code, str(ROOT)], check=True, timeout=60)


def test_markers_in_files_are_masked(tmp_path):
    with RunDir(str(tmp_path)) as rundir:
        rundir.make_dir("work")
        (tmp_path / "work" / ".rota-result").write_text('{"token": "s3cr3t-1"}')
        told = markers.Markers(rundir, Mock(), Mask(["s3cr3t-1"]))
        told.end()
    assert told.result == '{"token": "********"}'


def test_attempt_without_secret_files_is_no_trouble(tmp_path, capsys):
    """Each lost attempt told that its secrets were not removed."""
    secretfiles.take_back(str(tmp_path / "1" / "1-abc"))
    assert capsys.readouterr().err == ""
