"""The real command, with real scripts, without pages."""

import os
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from django.db.models import F

from jobs import actions, models
from jobs.execution.launch import AttemptRef
from jobs.execution.prepare import path_of
from jobs.service.loop import utc_now
from tests.service.conftest import Home
from tests.waiting import DEADLINE_SECONDS, until

STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print("ready", flush=True)
        time.sleep(600)
    os._exit(0)
time.sleep(600)
"""


def with_token(token: str) -> list[int]:
    """Processes that carry the attempt's token in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("ROTA_TOKEN") == token:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def printed(home: Home, instance_id: int) -> str:
    attempt = models.Attempt.objects.filter(instance_id=instance_id).last()
    if attempt is None:
        return ""
    folder = path_of(home.folder / "runs", AttemptRef(instance_id, attempt.number, attempt.token)) / "log"
    return "".join(file.read_text(errors="replace") for file in sorted(folder.rglob("*")) if file.is_file())


def test_job_deleted_while_it_runs_goes_by_itself(at_work: Home):
    instance_id = at_work.submit("import time; print('ready', flush=True); time.sleep(600)")
    until(lambda: "ready" in printed(at_work, instance_id))
    job_id = models.Instance.objects.get(pk=instance_id).job_id
    answer = actions.delete_job(job_id, actor="ann", now=utc_now(), cancel_live=True)
    assert answer.running == 1
    until(lambda: not models.Job.objects.filter(pk=job_id).exists())
    assert not (at_work.folder / "runs" / str(instance_id)).exists()
    assert models.Event.objects.get(kind="job.deleted", job_id=job_id).actor == "ann"


def test_cancel_leaves_no_process_of_a_stubborn_tree(at_work: Home):
    instance_id = at_work.submit(STUBBORN, kill_grace_seconds=0.5)
    until(lambda: "ready" in printed(at_work, instance_id))
    token = models.Instance.objects.get(pk=instance_id).token
    assert len(with_token(token)) >= 2
    actions.cancel_instance(instance_id, actor="ann", now=utc_now())
    assert at_work.until_all_ended()[instance_id] == "cancelled"
    assert with_token(token) == []


def test_whole_tree_has_exactly_its_cores(home: Home):
    home.start("--overcommit", "1.0", cores=len(os.sched_getaffinity(0)))
    instance_id = home.submit(STUBBORN, kill_grace_seconds=0.1)
    until(lambda: "ready" in printed(home, instance_id))
    instance = models.Instance.objects.get(pk=instance_id)
    assert allowed_to(with_token(instance.token)) == {frozenset(instance.cores)}
    actions.cancel_instance(instance_id, actor="ann", now=utc_now())
    home.until_all_ended()


def allowed_to(pids: list[int]) -> set[frozenset[int]]:
    """The cores of those that are there: the one between the script and its daemon may just have ended."""
    found = set()
    for pid in pids:
        with suppress(ProcessLookupError):
            found.add(frozenset(os.sched_getaffinity(pid)))
    return found


def test_design_example_on_the_running_service(home: Home):
    home.start("--overcommit", "1.5", cores=4)
    until(models.Node.objects.exists)  # until then the cores of the machine count, which may be fewer
    gate = home.folder / "gate"
    wait = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)"
    a_gate = home.folder / "a"
    a = home.submit(wait.replace(str(gate), str(a_gate)), name="A", cpu_cores_required=2)
    until(lambda: home.status(a) == "running")
    b = home.submit(wait, name="B", cpu_cores_required=1)
    until(lambda: home.status(b) == "running")
    c = home.submit(wait, name="C", cpu_cores_required=2)
    until(lambda: home.status(c) == "running")
    d = home.submit(wait, name="D", cpu_cores_required=3)
    until(lambda: models.Instance.objects.get(pk=d).hold_code == "cores")
    a_gate.touch()
    until(lambda: home.status(d) == "running")
    held = {i.pk: (len(i.cores), i.virtual_cores) for i in models.Instance.objects.all()}
    assert held == {a: (2, 0), b: (1, 0), c: (1, 1), d: (2, 1)}
    first, last = models.Instance.objects.get(pk=a), models.Instance.objects.get(pk=d)
    assert first.cores == last.cores
    gate.touch()
    assert set(home.until_all_ended().values()) == {"success"}


def test_delayed_instance_is_not_early(at_work: Home):
    now = utc_now()
    due = now + timedelta(seconds=2)
    raw = {"name": "later", "kind": "command", "command": "true", "schedule_type": "once"}
    job_id = actions.create_job({**raw, "start_date": due.isoformat()}, actor="ann", now=now).job_id
    instance = until(lambda: models.Instance.objects.filter(job_id=job_id, status="success").first())
    assert instance.started_at >= due
    assert instance.logical_at == due


def test_schedule_that_raises_is_flagged_and_others_fire(home: Home):
    for name in ("bad", "good"):
        raw = {"name": name, "kind": "command", "command": "true"}
        actions.create_job(
            {**raw, "schedule_type": "interval", "schedule_expression": "1s"}, actor="ann", now=utc_now()
        )
    models.Schedule.objects.filter(job__name="bad").update(zone="Nowhere/Atall", type="daily", expression="10:00")
    home.start()
    until(lambda: models.Instance.objects.filter(job__name="good", status="success").count() >= 2)
    assert "Nowhere/Atall" in models.Schedule.objects.get(job__name="bad").fault
    assert not models.Instance.objects.filter(job__name="bad").exists()


def test_passes_that_the_database_refuses_lose_nothing(home: Home):
    started = home.folder / "started"
    script = f"import os\nwith open({str(started)!r}, 'a') as f: f.write(os.environ['ROTA_INSTANCE_ID'] + '\\n')"
    ids = [home.submit(script) for _ in range(12)]
    home.start(crash_at="the database refuses", cores=4)
    assert home.until_all_ended() == dict.fromkeys(ids, "success")
    assert sorted(map(int, started.read_text().split())) == ids


def test_database_that_goes_as_the_service_begins_is_said_so(home: Home):
    process = home.start(crash_at="the database goes")
    assert process.wait(DEADLINE_SECONDS) != 0
    assert home.output().splitlines()[-1].endswith("(server closed the connection); start it, or correct DATABASE_URL.")


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["--cores", "0"], "--cores"),
    (["--overcommit", "0.5"], "--overcommit"),
    (["--port", "99999"], "--port"),
])  # fmt: skip
def test_nonsense_is_refused_with_a_sentence(home: Home, arguments, sentence):
    process = home.start(*arguments)
    assert process.wait(DEADLINE_SECONDS) != 0
    assert sentence in home.output()
    assert "Traceback" not in home.output()


def test_environment_of_a_job_holds_nothing_of_the_service(at_work: Home):
    instance_id = at_work.submit("import os\nprint(sorted(os.environ))")
    assert at_work.until_all_ended()[instance_id] == "success"
    assert "ROTA_DATA" not in printed(at_work, instance_id)
    assert "ROTA_MIN_FREE_DISK_MB" not in printed(at_work, instance_id)


def test_service_log_is_kept_in_the_data_folder(at_work: Home):
    log = at_work.folder / "logs" / "service.log"
    until(lambda: log.exists() and "gives out cores" in log.read_text())
    assert Path(at_work.folder / "service.lock").exists()


def test_cores_kept_for_a_big_one_are_shown(home: Home):
    home.start("--overcommit", "1.0", cores=2, crash_at="impatient")
    gate = home.folder / "gate"
    wait = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)"
    running = home.submit(wait, name="running")
    until(lambda: home.status(running) == "running")
    big = home.submit("pass", name="big", cpu_cores_required=2)
    until(lambda: models.Node.objects.get().kept_for == big)
    small = home.submit("pass", name="small")
    until(lambda: models.Instance.objects.get(pk=small).hold_code == "behind")
    gate.touch()
    assert set(home.until_all_ended().values()) == {"success"}
    until(lambda: models.Node.objects.get().kept_for is None)


def test_node_whose_executor_hangs_looks_stale(home: Home):
    home.start(crash_at="the executor hangs")
    until(models.Node.objects.exists)
    log = home.folder / "logs" / "service.log"
    until(lambda: "has not answered" in log.read_text())
    before = models.Node.objects.get().heartbeat_at
    until(lambda: log.read_text().count("has not answered") >= 3)
    assert models.Node.objects.get().heartbeat_at == before


def test_draining_node_starts_nothing_until_undrained(home: Home):
    process = home.start()
    node = until(lambda: models.Node.objects.filter(heartbeat_at__isnull=False).first())
    gate = home.folder / "gate"
    running = home.submit(f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)")
    until(lambda: home.status(running) == "running")
    actions.drain_node(node.pk, actor="ann", now=utc_now())
    waiting = home.submit("pass")
    gate.touch()
    until(lambda: home.status(running) == "success")
    process.terminate()
    process.wait()
    assert home.status(waiting) == "queued"

    home.start()  # it is drained still
    until(lambda: models.Node.objects.filter(incarnation=2, heartbeat_at__gt=F("started_at")).exists())
    assert home.status(waiting) == "queued"
    actions.undrain_node(node.pk, actor="ann", now=utc_now())
    assert home.until_all_ended()[waiting] == "success"
