"""What a job takes on before it begins: its place at cores and disk, the size of its files, its user."""

import hashlib
import os
import pwd
import shutil
import tempfile
from pathlib import Path

import pytest

from jobs.core.running import RunOptions
from jobs.core.states import OutcomeKind
from jobs.execution import limits, prepare
from jobs.execution.limits import User, own_names, user_of
from jobs.execution.program import StartError
from jobs.execution.secrets import GivenSecret
from tests.execution.node import Node
from tests.execution.running import is_alive, until

NOBODY = "nobody"
only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root may become another user or go below nice 0")


def run(attempt, body, kind="command", **fields):
    running = attempt(body, kind, **fields)
    assert running.result().kind == "success", (running.result().error, running.text)
    return running.text.strip()


# --- Places ---


def test_nice_is_that_of_the_job(attempt):
    assert run(attempt, "nice", nice=7) == "7"


@only_root
def test_nice_below_zero_is_for_root(attempt):
    assert run(attempt, "nice", nice=-3) == "-3"


def test_nice_that_is_refused_is_a_rejected_start(attempt, monkeypatch):
    def refuse(nice):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "nice", refuse)
    with pytest.raises(StartError, match=r"nice -5: Operation not permitted \(errno 1\); only a service that is root"):
        limits.be_nice(-5)


@pytest.mark.skipif(not shutil.which("ionice"), reason="there is no ionice to ask")
@pytest.mark.parametrize(("name", "said"), [("normal", "none"), ("low", "best-effort: prio 7"), ("idle", "idle")])
def test_io_priority_is_that_of_the_job(attempt, name, said):
    assert run(attempt, "ionice", io_priority=name).startswith(said)


def test_io_priority_on_an_unknown_machine_is_a_rejected_start(monkeypatch):
    monkeypatch.setattr(limits, "IOPRIO_SET", {})
    with pytest.raises(StartError, match="I/O priority low: cannot be set on a machine of this kind"):
        limits.set_io_priority("low")


# --- Files ---


def test_file_larger_than_allowed_ends_the_job_with_a_hint(attempt):
    result = attempt("head -c 3000000 /dev/zero > big; exit $?", max_file_bytes=1_000_000).result()
    assert result.kind == "failed"
    command = attempt("exec head -c 3000000 /dev/zero > big", max_file_bytes=1_000_000).result()
    assert command.error == "killed by signal 25 (SIGXFSZ): a file that it wrote became larger than it may be"


def test_output_is_no_file_that_is_limited(attempt):
    assert len(run(attempt, "head -c 3000000 /dev/zero | tr '\\0' x", max_file_bytes=1000)) == 3_000_000


@pytest.mark.parametrize(("umask", "mode"), [(0o022, "644"), (0o077, "600"), (0o002, "664")])
def test_umask_is_that_of_the_job(attempt, umask, mode):
    assert run(attempt, "touch f; stat -c %a f", umask=umask) == mode


def test_working_directory_that_was_removed_is_a_rejected_start(attempt, tmp_path):
    (gone := tmp_path / "gone").mkdir()
    gone.rmdir()
    result = attempt("true", working_directory=str(gone)).result()
    assert (result.kind, result.started_at) == ("rejected", None)
    assert result.error == (f"could not be started: working directory {gone}: No such file or directory (errno 2)")


# --- Users ---


@pytest.fixture
def open_folder():
    """Where any user may go: pytest's own folders are closed."""
    folder = Path(tempfile.mkdtemp(prefix="rota-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@only_root
def test_job_runs_as_the_user_with_its_groups(attempt, open_folder):
    text = run(attempt, "id -un; id -Gn; cat /proc/self/status | grep -c '^CapEff:.*[1-9a-f]'; exit 0",
               path=open_folder / "run", run_as=NOBODY)  # fmt: skip
    assert text.split() == [NOBODY, "nogroup", "0"]


@only_root
def test_user_may_open_its_output_by_name(attempt, open_folder):
    """`echo done > /dev/stderr` was refused: the pipe was ours."""
    text = run(attempt, "echo out > /dev/stdout; echo err > /dev/stderr", path=open_folder / "run", run_as=NOBODY)
    assert sorted(text.split()) == ["err", "out"]


@only_root
def test_users_workspace_is_its_own_and_the_rest_is_closed(attempt, open_folder):
    body = (
        "#!/bin/sh\ntouch mine && stat -c %U . mine; head -2 $0 | tail -1 | cut -c 1-5\n"
        "for name in ../spec.json ../claim ../log; do test -r $name && echo $name is readable; done\n"
        "for name in .. ../job $0; do test -w $name && echo $name can be written; done; exit 0\n"
    )
    assert run(attempt, body, "script", path=open_folder / "run", run_as=NOBODY).split() == [NOBODY, NOBODY, "touch"]


@only_root
def test_files_of_secrets_are_the_users(attempt, open_folder):
    body = 'cd "${KEY%/*}"; stat -c "%U %a" . KEY; sha256sum < KEY | cut -c 1-8; ls -A | wc -l'
    key = GivenSecret("KEY", "s3cr3t-1", as_file=True, name="key")
    text = run(attempt, body, path=open_folder / "run", run_as=NOBODY, given=[key], secrets={"KEY": "key"})
    digest = hashlib.sha256(b"s3cr3t-1").hexdigest()[:8]
    assert text.split() == [NOBODY, "700", NOBODY, "400", digest, "1"]


@only_root
def test_home_and_name_follow_the_user(attempt, open_folder):
    text = run(attempt, 'echo "$HOME $USER $LOGNAME"', path=open_folder / "run", run_as=NOBODY,
               env=own_names())  # fmt: skip
    assert text == f"{pwd.getpwnam(NOBODY).pw_dir} {NOBODY} {NOBODY}"


@only_root
def test_home_that_a_job_chose_itself_stays(attempt, open_folder):
    chosen = {"HOME": "/srv/app", "USER": "app"}
    text = run(attempt, "echo $HOME $USER $LOGNAME", path=open_folder / "run", run_as=NOBODY, env=chosen)
    assert text == f"/srv/app app {NOBODY}"


@only_root
def test_job_of_another_user_dies_with_its_runner(attempt, open_folder):
    """A change of user lets go of the parent-death signal."""
    running = attempt("exec sleep 600", path=open_folder / "run", run_as=NOBODY)
    job = running.job
    os.kill(running.pid, 9)
    until(lambda: not is_alive(job))


@only_root
def test_job_of_another_user_is_ended_like_any_other(attempt, open_folder):
    running = attempt("trap '' TERM; echo ready; while :; do sleep 0.05; done", path=open_folder / "run", run_as=NOBODY)
    running.prints("ready")
    running.cancel()
    assert running.result().kind == "cancelled"
    assert running.alive() == []


@only_root
def test_way_to_the_workspace_is_opened_and_the_data_folder_closed(open_folder):
    data = open_folder / "data"
    folders = (data, data / "runs", data / "runs" / "1")
    for folder in folders:
        folder.mkdir(mode=0o700)
    (data / "db.sqlite3").write_text("secret")
    prepare.open_way(folders[-1] / "1-token")
    assert [oct(folder.stat().st_mode)[-3:] for folder in folders] == ["711"] * 3
    assert oct((data / "db.sqlite3").stat().st_mode)[-3:] == "600"


def test_journal_that_goes_meanwhile_keeps_nobody_from_starting(tmp_path, monkeypatch):
    path = tmp_path / "runs" / "1" / "1-token"
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(Path, "iterdir", lambda folder: iter([folder / "db.sqlite3-journal"]))
    prepare.open_way(path)


@only_root
def test_user_finds_its_way_from_the_data_folder(open_folder):
    node = Node(open_folder / "data")
    ref = node.launch("#!/bin/sh\nid -un; touch here && pwd; touch $ROTA_OUTPUT/there && echo kept\n", kind="script",
                      run=RunOptions(run_as=NOBODY))  # fmt: skip
    assert (node.outcome(ref).kind, node.text(ref).split()) == (
        OutcomeKind.SUCCESS, [NOBODY, f"{node.path(ref)}/work", "kept"],
    )  # fmt: skip
    node.executor.close()


def test_unknown_user_is_a_rejected_start(attempt):
    result = attempt("true", run_as="no-such-user").result()
    assert result.kind == "rejected"
    assert result.error == "could not be started: user no-such-user: there is none of this name on this node"


def test_another_user_without_root_is_a_rejected_start(monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    with pytest.raises(StartError, match="user root: only a service that is root may run a job as another user"):
        user_of("root")


def test_own_user_by_name_changes_nothing():
    assert user_of(pwd.getpwuid(os.getuid()).pw_name) is None


def test_user_that_cannot_be_become_is_a_rejected_start(monkeypatch):
    def refuse(*ids):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "initgroups", refuse)
    with pytest.raises(StartError, match="user ann: Operation not permitted"):
        limits.become(User("ann", 1000, 1000, "/home/ann"))
