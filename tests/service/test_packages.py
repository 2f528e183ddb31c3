"""Jobs with packages of their own, by the real command and without a network."""

from pathlib import Path

import pytest

from jobs import actions, models
from jobs.execution import log
from jobs.execution.launch import AttemptRef
from jobs.execution.prepare import path_of
from jobs.execution.tree import all_processes, read_proc
from jobs.service.loop import utc_now
from tests.fixtures.wheels import install_from, make_wheel
from tests.service.conftest import Home
from tests.waiting import until

SHOW = "import os, sys, tiny, time; print(tiny.VERSION, sys.prefix == os.environ['VIRTUAL_ENV'], flush=True)"
STAY = f"{SHOW}\nwhile not os.path.exists(sys.argv[0] + '.end'): time.sleep(0.01)\n"


@pytest.fixture
def packaged(home: Home, tmp_path: Path) -> Home:
    for version in ("1.0", "2.0"):
        make_wheel(tmp_path / "wheels", "tiny", version)
    install_from(home.folder, tmp_path / "wheels")
    return home


def printed(home: Home, instance_id: int) -> str:
    attempt = models.Attempt.objects.filter(instance_id=instance_id).last()
    if attempt is None:
        return ""
    path = path_of(home.folder / "runs", AttemptRef(instance_id, attempt.number, attempt.token))
    return log.read(path).data.decode() if path.exists() else ""


def run_again(instance_id: int) -> int:
    job_id = models.Instance.objects.get(pk=instance_id).job_id
    answer = actions.run_job(job_id, actor="ann", now=utc_now())
    return answer.instance_id


def test_conflicting_versions_run_side_by_side(packaged: Home):
    packaged.start()
    one = packaged.submit(STAY, requirements=["tiny==1.0"])
    two = packaged.submit(STAY, requirements=["tiny==2.0"])
    until(lambda: "1.0 True" in printed(packaged, one) and "2.0 True" in printed(packaged, two))
    assert packaged.statuses() == {one: "running", two: "running"}
    assert "was made ready in" in printed(packaged, one)
    cancel_all(packaged, one, two)
    again = [run_again(one), run_again(two)]
    until(lambda: "1.0 True" in printed(packaged, again[0]) and "2.0 True" in printed(packaged, again[1]))
    assert "was made ready in" not in printed(packaged, again[0]) + printed(packaged, again[1])
    cancel_all(packaged, *again)


def cancel_all(packaged: Home, *instance_ids: int) -> None:
    """Scripts outlive the service of a test."""
    for instance_id in instance_ids:
        actions.cancel_instance(instance_id, actor="ann", now=utc_now())
    packaged.until_all_ended()


def test_a_script_says_itself_what_it_needs(packaged: Home, tmp_path: Path):
    script = "# /// script\n# dependencies = ['tiny<2']\n# ///\nimport tiny; print(tiny.VERSION)\n"
    (tmp_path / "own.py").write_text(script)
    packaged.start()
    pasted = packaged.submit(script)
    kept = packaged.submit("", script_content=None, script_path=str(tmp_path / "own.py"))
    command = packaged.submit("", kind="command", script_content=None, command="tiny", requirements=["tiny"])
    assert packaged.until_all_ended() == dict.fromkeys((pasted, kept, command), "success")
    assert [printed(packaged, one)[-4:] for one in (pasted, kept, command)] == ["1.0\n", "1.0\n", "2.0\n"]
    (tmp_path / "own.py").write_text(script.replace("<2", ">1"))
    changed = run_again(kept)
    packaged.until_all_ended()
    assert printed(packaged, changed).endswith("2.0\n")


def test_what_cannot_be_installed_fails_and_says_why(packaged: Home, tmp_path: Path):
    (tmp_path / "bad.py").write_text("# /// script\n# dependencies = [\n# ///\n")
    packaged.start()
    absent = packaged.submit("print(1)", requirements=["absent"], max_retries=3)
    malformed = packaged.submit("", script_content=None, script_path=str(tmp_path / "bad.py"))
    assert packaged.until_all_ended() == {absent: "failed", malformed: "failed"}
    attempt = models.Attempt.objects.get(instance_id=absent)
    assert attempt.outcome == "environment_failed"
    assert attempt.error.startswith("its packages could not be installed: ")
    assert attempt.error in printed(packaged, absent)
    assert "is not TOML" in models.Attempt.objects.get(instance_id=malformed).error
    assert {one.outcome for one in models.Attempt.objects.all()} == {"environment_failed"}


def builds(home: Home) -> list[int]:
    mark = f"{home.folder}/environments/".encode()
    return [one.pid for one in all_processes() if one.alive and mark in read_proc(one.pid, "cmdline")]


def test_an_environment_is_waited_for_without_cores(packaged: Home, tmp_path: Path):
    (tmp_path / "environment").write_text("UV_FIND_LINKS=http://127.0.0.1:9/\nUV_HTTP_RETRIES=1000000\nUV_NO_INDEX=1\n")
    service = packaged.start()
    until(models.Node.objects.exists)  # until then the cores of the machine count, which may be one
    waiting = packaged.submit("print(1)", requirements=["tiny"], cpu_cores_required=2)
    until(lambda: models.Instance.objects.get(pk=waiting).hold_code == "environment")
    until(lambda: builds(packaged))  # held first, built then
    other = packaged.submit("print(2)", cpu_cores_required=2)
    until(lambda: packaged.status(other) == "success")
    packaged.kill(service)
    until(lambda: not builds(packaged))
    install_from(tmp_path, tmp_path / "wheels")
    packaged.start()
    until(lambda: packaged.status(waiting) == "success")
    until(lambda: not [*(tmp_path / "environments").glob("*.making")])
