"""The cells of docs/process-endings.md about callables that are not tried by test_endings.py and test_pool.py."""

import uuid

import pytest

from jobs.execution import hostprocess, log
from jobs.execution.launch import AttemptRef
from jobs.execution.prepare import path_of
from tests.callables.conftest import SHOP, HostingNode
from tests.execution.node import Service
from tests.execution.running import is_alive
from tests.waiting import until

MODELS = {"thread_waits": "thread", "async_blocks": "async", "pooled_segfaults": "process"}


def test_thread_that_ends_at_last_is_a_success(shared, free):
    ref = shared.waits("thread_waits", free)
    free.touch()
    assert shared.outcome(ref).kind == "success"


@pytest.mark.usefixtures("impatient")
def test_blocker_past_its_time_limit_costs_its_host(alone, free):
    def end_of_a_blocker():
        alone.outcome(alone.run("async_ends", how="value"))
        [host] = alone.hosts
        ref = alone.run("async_blocks", path=str(free), grace=0.1, timeout_seconds=1)
        assert alone.outcome(ref).kind == "timeout"
        return host, alone.outcome(ref).error, "waiting" in alone.text(ref)

    # Another one, if its time was up before it blocked.
    host, error, _ = until(lambda: (end := end_of_a_blocker())[-1] and end)
    assert "its host process was killed, since it went on for its grace of 0.1 s" in error
    assert not is_alive(host)


@pytest.mark.parametrize("kind", ["cancelled", "timeout"])
def test_worker_that_segfaults_when_it_is_to_end(shared, free, kind):
    if kind == "timeout":
        ref = shared.run("pooled_segfaults", path=str(free), timeout_seconds=1)
    else:
        ref = shared.waits("pooled_segfaults", free)
        shared.executor.cancel(ref)
    assert shared.outcome(ref).kind == kind
    assert not is_alive(shared.reports.started(ref).pid)


def test_stop_of_the_node_ends_blocker_and_worker(alone, free):
    refs = [alone.waits(name, free) for name in ("async_blocks", "pooled_segfaults")]
    alive = {*alone.hosts, *(alone.reports.started(ref).pid for ref in refs)}
    alone.executor.end_hosts()
    assert [alone.outcome(ref).kind for ref in refs] == ["lost", "lost"]
    until(lambda: not any(is_alive(pid) for pid in alive))


def test_killed_service_takes_its_callables_with_it(tmp_path, free):
    folder, refs = tmp_path / "node", {}
    service = Service(folder)
    for number, (name, model) in enumerate(MODELS.items(), 1):
        refs[name] = AttemptRef(number, 1, uuid.uuid4().hex)
        more = {"kind": "callable", "model": model, "pooled": model == "process", "parameters": {"path": str(free)}}
        service.launch(f"{SHOP}.{name}", refs[name].token, number, **more)
    for ref in refs.values():
        until(lambda ref=ref: "waiting" in log.read_text(path_of(folder / "runs", ref)).text)
    hosts = {one.pid for one in hostprocess.marked(f"{folder}#")}
    service.kill()
    node = HostingNode(folder)
    # Later than it is recovered, where a process of it was left.
    ends = [node.executor.recover(ref).outcome or node.outcome(ref) for ref in refs.values()]
    assert [end.kind for end in ends] == ["lost"] * 3
    assert len(hosts) >= 3
    until(lambda: not any(is_alive(pid) for pid in hosts))
    node.end()
