"""Whatever a callable starts, in whatever way, ends with its attempt: the cells of docs/process-endings.md."""

import pytest

from tests.execution.running import is_alive
from tests.waiting import until

NAMES = ["async_leaves", "thread_leaves", "pooled_leaves_all"]
WAYS = ["subprocess", "deaf", "posix_spawn", "fork", "fork twice", "multiprocessing fork", "multiprocessing spawn",
        "multiprocessing forkserver", "thread", "alone", "orphan"]  # fmt: skip


@pytest.fixture
def free(tmp_path):
    file = tmp_path / "free"
    yield file
    file.touch()


def start_all(node, free, **more):
    """The attempts, one of each model, and the processes that they have started by now. One after another: a fork
    holds open what another thread reads from until its end.
    """
    refs, pids = [], []
    for name in NAMES:
        refs.append(ref := node.waits(name, free, ways=WAYS, grace=0.2, **more))
        pids += [int(word) for word in node.text(ref).split() if word.isdigit()]
    assert len(pids) == len(NAMES) * len(WAYS) + 1
    assert all(map(is_alive, pids))
    return refs, pids


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


@pytest.mark.parametrize("kind", ["cancelled", "timeout"])
def test_all_that_they_have_started_goes_with_them(shared, free, kind):
    refs, pids = start_all(shared, free, timeout_seconds=4.0 if kind == "timeout" else None)
    for ref in refs if kind == "cancelled" else ():
        shared.executor.cancel(ref)
    assert [until(lambda ref=ref: shared.reports.ends(ref))[0].outcome.kind for ref in refs] == [kind] * 3
    gone(pids)


def test_stop_of_the_node_ends_all_of_them(alone, free):
    refs, pids = start_all(alone, free)
    alone.executor.end_hosts()
    assert [alone.outcome(ref).kind for ref in refs] == ["lost"] * 3
    gone(pids)
