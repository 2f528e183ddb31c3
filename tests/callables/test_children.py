"""Whatever a callable starts, in whatever way, ends with its attempt: the cells of docs/process-endings.md."""

import uuid

from jobs.execution.launch import AttemptRef
from jobs.execution.log import read_text
from jobs.execution.prepare import path_of
from tests.callables.conftest import SHOP, HostingNode
from tests.execution.node import Service
from tests.execution.running import is_alive
from tests.waiting import until

MODELS = {"async_leaves": "async", "thread_leaves": "thread", "pooled_leaves_all": "process"}
WAYS = ["subprocess", "deaf", "posix_spawn", "fork", "fork twice", "multiprocessing fork", "multiprocessing spawn",
        "multiprocessing forkserver", "thread", "headless", "alone", "orphan"]  # fmt: skip


def start_all(node, free):
    """The attempts, one of each model, and the processes that they have started by now. One after another: a fork
    holds open what another thread reads from until its end.
    """
    refs = [node.waits(name, free, ways=WAYS, grace=0.2) for name in MODELS]
    pids = [pid for ref in refs for pid in pids_in(node.text(ref))]
    assert len(pids) == len(refs) * len(WAYS) + 1
    assert all(map(is_alive, pids))
    return refs, pids


def pids_in(text):
    return [int(line) for line in text.splitlines() if line.isdigit()]


def gone(pids):
    return until(lambda: not any(map(is_alive, pids)))


def test_all_that_they_left_is_ended(shared, free):
    refs, pids = start_all(shared, free)
    free.touch()
    ends = [shared.outcome(ref) for ref in refs]
    assert [end.kind for end in ends] == ["success"] * 3
    assert not [pid for pid in pids if is_alive(pid)]
    assert sum(end.descendants_ended for end in ends) >= len(pids)
    assert all("the job has ended and left processes: TERM sent to" in shared.text(ref) for ref in refs)


def test_all_that_they_have_started_goes_with_them(shared, free):
    refs, pids = start_all(shared, free)
    for ref in refs:
        shared.executor.cancel(ref)
    assert [kind_of(shared, ref) for ref in refs] == ["cancelled"] * 3
    gone(pids)


def test_all_that_they_have_started_goes_at_their_time_limit(shared, free):
    """However much that is by then."""
    refs = [shared.run(name, path=str(free), ways=WAYS, grace=0.2, timeout_seconds=0.5) for name in MODELS]
    assert [kind_of(shared, ref) for ref in refs] == ["timeout"] * 3
    until(lambda: not any(is_alive(pid) for ref in refs for pid in pids_in(shared.text(ref))))


def kind_of(node, ref):
    """Of its first outcome: that of a thread is told twice."""
    return until(lambda: node.reports.ends(ref))[0].outcome.kind


def test_stop_of_the_node_ends_all_of_them(alone, free):
    refs, pids = start_all(alone, free)
    alone.executor.end_hosts()
    assert [alone.outcome(ref).kind for ref in refs] == ["lost"] * 3
    gone(pids)


def test_killed_service_leaves_none_of_them(tmp_path, free):
    """When it is next started, that is; all but what nobody can find then."""
    folder, refs, ways = tmp_path / "node", [], WAYS[:-2]
    service = Service(folder)
    for number, (name, model) in enumerate(MODELS.items(), 1):
        refs.append(AttemptRef(number, 1, uuid.uuid4().hex))
        more = {"kind": "callable", "model": model, "pooled": model == "process"}
        given = {"path": str(free), "ways": ways}
        service.launch(f"{SHOP}.{name}", refs[-1].token, number, parameters=given, **more)
        until(lambda ref=refs[-1]: "waiting" in read_text(path_of(folder / "runs", ref)).text)
    pids = [pid for ref in refs for pid in pids_in(read_text(path_of(folder / "runs", ref)).text)]
    assert len(pids) == len(refs) * len(ways) + 1
    service.kill()
    node = HostingNode(folder)
    ends = [node.executor.recover(ref).outcome or node.outcome(ref) for ref in refs]  # later, if some were left
    assert [end.kind for end in ends] == ["lost"] * 3
    gone(pids)
    node.end()
