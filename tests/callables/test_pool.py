"""Pooled callables: many calls, few processes, each of which can be ended by itself."""

import json
import os
import signal
from pathlib import Path
from unittest.mock import Mock

import pytest

from jobs.callables.workers import fork
from jobs.execution.tree import process
from tests.execution.running import is_alive
from tests.waiting import DEADLINE_SECONDS, until


@pytest.mark.parametrize("refused", [["pipe2", 2], ["fork", 1]])
def test_worker_that_the_machine_refuses_keeps_no_descriptor(monkeypatch, refused):
    name, nth = refused
    given, before = [*[getattr(os, name)] * (nth - 1), Mock(side_effect=OSError("no more"))], descriptors()

    def refuse(*args):
        return given.pop(0)(*args)

    monkeypatch.setattr(os, name, refuse)
    with pytest.raises(OSError, match="no more"):
        fork(0)
    until(lambda: descriptors() <= before)  # another thread may have opened one meanwhile


def descriptors():
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def worker_of(node, ref):
    return node.reports.started(ref).pid


def test_it_is_told_who_it_is_and_gives_a_result(shared):
    ref = shared.run("pooled_tells", name="żółw")
    found = shared.outcome(ref)
    assert json.loads(found.result)[:3] == [ref.instance_id, 1, {"name": "żółw"}]
    assert sorted(shared.text(ref).splitlines()) == ["from below", "żółw"]
    assert shared.progress(ref) == (0.25, "żółw")
    assert found.cpu_seconds is not None


def test_a_worker_is_used_again(alone):
    pids = {json.loads(alone.outcome(alone.run("pooled_tells", name="x")).result)[3] for _ in range(3)}
    assert len(pids) == 1


@pytest.mark.parametrize(
    ("how", "kind", "error"),
    [
        ("error", "failed", "ValueError: the shelf is empty"),
        ("set", "success", ""),
        ("exit", "failed", "exited with code 3"),
        ("os._exit", "failed", "exited with code 3"),
        ("segfault", "failed", "killed by signal 11 (SIGSEGV)"),
        ("traced", "failed", "exited with code 1"),
        ("lies", "lost", "it has ended, but its result cannot be read: 'rich' is not a valid OutcomeKind"),
        ("chatter", "failed", "wrote into the connection between its process and the pool"),
    ],
)
def test_an_end_is_its_own(shared, free, how, kind, error):
    other = shared.waits("pooled_waits", free)
    found = shared.outcome(ref := shared.run("pooled_ends", how=how, number=3))
    assert (found.kind, found.error) == (kind, error)
    assert ("result cannot be given as JSON" in shared.text(ref)) == (how == "set")
    assert ("ValueError: the shelf is empty" in shared.text(ref)) == (how == "error")
    free.touch()
    assert shared.outcome(other).kind == "success"


def test_a_fork_that_returns_gives_no_answer(alone):
    forked, after = alone.run("pooled_ends", how="fork"), alone.run("pooled_ends", how="value", number=7)
    assert json.loads(alone.outcome(forked).result) == "the parent"
    assert json.loads(alone.outcome(after).result)["number"] == 7


def test_what_one_makes_of_its_process_is_not_the_next_ones(alone):
    assert alone.outcome(alone.run("pooled_ends", how="moved")).kind == "success"
    assert json.loads(alone.outcome(alone.run("pooled_ends", how="where")).result) == [True] * 4


def test_final_failure_is_told(shared):
    assert shared.outcome(shared.run("pooled_ends", how="final")).final


@pytest.mark.parametrize("name", ["pooled_waits", "pooled_deaf"])
def test_cancel_ends_its_process(shared, free, name):
    ref = shared.waits(name, free, grace=0.1)
    shared.executor.cancel(ref)
    assert (shared.outcome(ref).kind, shared.outcome(ref).error) == ("cancelled", "was cancelled while it ran")
    assert not is_alive(worker_of(shared, ref))


def test_time_limit_ends_its_process(shared, free):
    ref = shared.run("pooled_waits", path=str(free), timeout_seconds=0.2)
    assert shared.outcome(ref).kind == "timeout"
    assert not is_alive(worker_of(shared, ref))


def test_one_that_looks_at_its_token_ends_by_itself(shared):
    ref = shared.waits("pooled_heeds", grace=DEADLINE_SECONDS)
    shared.executor.cancel(ref)
    assert shared.outcome(ref).kind == "cancelled"
    assert "tidied up" in shared.text(ref)


def test_what_it_leaves_is_ended_before_its_end_is_told(shared):
    found = shared.outcome(shared.run("pooled_leaves"))
    assert (found.kind, found.descendants_ended) == ("success", 1)
    assert process(int(found.result)) is None


def test_what_another_has_left_has_its_own_grace(shared, free):
    tidies = shared.run("pooled_leaves_tidy", path=str(free), grace=60)
    shared.prints(tidies, "TERM sent to")
    left = int(shared.text(tidies).split()[0])
    other = shared.outcome(shared.run("pooled_leaves", grace=0.1))
    assert (other.kind, other.descendants_ended) == ("success", 1)
    assert is_alive(left)
    free.touch()
    assert shared.outcome(tidies).kind == "success"
    assert not is_alive(left)


def test_killed_worker_is_a_failure(shared, free):
    ref = shared.waits("pooled_waits", free)
    os.kill(worker_of(shared, ref), signal.SIGKILL)
    assert shared.outcome(ref).kind == "failed"
    assert "killed by signal 9 (SIGKILL), not by Rota" in shared.outcome(ref).error


def test_killed_pool_loses_what_is_in_it(alone, free):
    ref = alone.waits("pooled_waits", free)
    worker = worker_of(alone, ref)
    os.kill(alone.hosts[0], signal.SIGKILL)
    assert "the host process that it ran in was killed by signal 9" in alone.outcome(ref).error
    until(lambda: not is_alive(worker))  # one that is just exiting has no memory any more by which it is found


def test_stop_of_the_node_ends_the_pool(alone, free):
    ref = alone.waits("pooled_deaf", free)
    worker = worker_of(alone, ref)
    alone.executor.end_hosts()
    assert alone.outcome(ref).kind == "lost"
    until(lambda: not is_alive(worker))
