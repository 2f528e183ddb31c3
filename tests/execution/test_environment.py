"""A job sees exactly the documented environment, whatever the service was started with."""

import json
import subprocess
import sys
from os import getuid
from pwd import getpwuid

import pytest

from jobs.core.records import Allocation
from jobs.core.running import RunOptions
from jobs.core.states import OutcomeKind
from jobs.execution import log
from jobs.execution.launch import AttemptRef
from jobs.execution.prepare import path_of
from tests.execution.running import ROOT
from tests.waiting import until

SHOW = "import os, json; print(json.dumps(dict(os.environ)))"


def environment(node, **fields):
    ref = node.launch(SHOW, kind="script", **fields)
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS, node.outcome(ref).error
    return ref, json.loads(node.text(ref))


def test_environment_is_exactly_the_documented_one(node, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "secret")
    ref, env = environment(node, attempt=3, allocation=Allocation((0, 1), 1, 256), memory_limit_mb=256, fence=12,
                           env={"MINE": "$(touch /tmp/pwned)\n'x'"})  # fmt: skip
    assert env == {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": getpwuid(getuid()).pw_dir,
        "USER": getpwuid(getuid()).pw_name, "LOGNAME": getpwuid(getuid()).pw_name,
        "LANG": "C.UTF-8", "OMP_NUM_THREADS": "3", "PYTHON_CPU_COUNT": "3", "PYTHONUNBUFFERED": "1",
        "MINE": "$(touch /tmp/pwned)\n'x'",
        "ROTA_INSTANCE_ID": "1", "ROTA_JOB_ID": "7", "ROTA_JOB_NAME": "a job", "ROTA_ATTEMPT": "3",
        "ROTA_LOGICAL_AT": "2030-01-02T03:04:05+00:00", "ROTA_NODE": "here", "ROTA_FENCE": "12", "ROTA_CORES": "0,1",
        "ROTA_TOKEN": ref.token, "ROTA_WORKSPACE": f"{node.path(ref)}/work",
        "ROTA_OUTPUT": f"{node.path(ref)}/output", "ROTA_PROGRESS_FILE": f"{node.path(ref)}/work/.rota-progress",
        "ROTA_RESULT_FILE": f"{node.path(ref)}/work/.rota-result",
        "JOB_ID": "7", "JOB_INSTANCE_ID": "1", "CPU_LIMIT": "3", "MEMORY_LIMIT_MB": "256",
    }  # fmt: skip


def test_node_file_and_job_override_the_base(node):
    (node.data_dir / "environment").write_text("# of this node\n\nPATH=/bin\nexport A='one two'\nLANG=C\nROTA_NODE=x\n")
    _, env = environment(node, env={"LANG": "de"})
    assert (env["PATH"], env["A"], env["LANG"], env["ROTA_NODE"]) == ("/bin", "one two", "de", "here")


def test_broken_node_file_is_named_with_its_line(node):
    (node.data_dir / "environment").write_text("A=1\nrm -rf\n")
    ref = node.launch()
    assert node.outcome(ref).kind == OutcomeKind.REJECTED
    assert "environment, line 2: found 'rm -rf', expected NAME=value" in node.outcome(ref).error
    assert node.outcome(ref).error in node.text(ref)


def test_output_is_utf8_however_the_service_was_started(tmp_path):
    command = json.dumps({"body": f"{sys.executable} -c \"print('na\\u00efve \\u6771\\u4eac')\"", "token": "t" * 32})
    subprocess.run([sys.executable, "-m", "tests.execution.driver", tmp_path / "d"], input=f"{command}\n", text=True,
                   encoding="utf-8", env={"LC_ALL": "C", "PYTHONPATH": str(ROOT)}, cwd=ROOT, check=True)  # fmt: skip
    path = path_of(tmp_path / "d" / "runs", AttemptRef(1, 1, "t" * 32))
    until(lambda: log.state(path).complete)
    assert log.read_text(path).text == "naïve 東京\n"


LOOK = """
import os, pathlib, sys, time
home = pathlib.Path(os.environ["ROTA_WORKSPACE"]).parent
while not (home / "started.json").exists():  # until then its runner has it under another name
    time.sleep(0.01)
seen = [repr(dict(os.environ)), open("/proc/self/environ").read(), open("/proc/self/cmdline").read(), repr(sys.argv)]
for folder in {home, pathlib.Path.cwd()}:
    seen += [str(path) + (path.read_text("utf-8", "replace") if path.is_file() else "") for path in folder.rglob("*")]
print(len(seen), "\\n".join(seen))
"""
SERVICES = {
    "ROTA_SECRET_KEY": "canary-key", "DATABASE_URL": "postgres://rota:canary-password@db/rota",
    "REDIS_URL": "redis://:canary-redis@cache", "AWS_SECRET_ACCESS_KEY": "canary-aws",
    "ROTA_ALLOWED_HOSTS": "canary.host",
    "DJANGO_SETTINGS_MODULE": "canary.settings", "VIRTUAL_ENV": "/canary", "MY_TOKEN": "canary-token",
}  # fmt: skip


@pytest.mark.parametrize("how", ["cold", "warm", "command"])
def test_job_finds_nothing_of_the_service(node, monkeypatch, how):
    """The environment of a job, printed by itself, and all files it can list in its folders."""
    for name, value in SERVICES.items():
        monkeypatch.setenv(name, value)
    looks = {"kind": "command", "body": f"{sys.executable} - <<'END'\n{LOOK}\nEND"} if how == "command" else {
        "kind": "script", "body": LOOK, "run": RunOptions(start=how)
    }  # fmt: skip
    if how == "warm":
        node.warm_up()
    ref = node.launch(parameters={"a": "b"}, takes_parameters=True, env={"MINE": "own"}, **looks)
    assert node.outcome(ref).kind == OutcomeKind.SUCCESS, node.outcome(ref).error
    assert how == "command" or node.start_method(ref) == how
    text = node.text(ref)
    assert "spec.json" in text
    assert "parameters.json" in text
    assert "own" in text
    assert "canary" not in text
    names = [name for name in SERVICES if name in text]
    assert not names
