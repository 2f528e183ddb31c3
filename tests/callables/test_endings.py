"""Cancel and time limit of what runs in a host, and what is left of it then."""

import os
import signal

import pytest

from jobs.execution import hosting, hostseats
from jobs.execution.launch import Abandoned, Ended
from jobs.execution.verdict import STOPPED
from tests.execution.running import is_alive
from tests.waiting import DEADLINE_SECONDS, until


def abandonment(node, ref):
    return until(lambda: next((one for one in node.reports.of(ref) if isinstance(one, Abandoned)), None))


def ends(node, ref):
    return [one for one in node.reports.of(ref) if isinstance(one, Ended)]


def test_cancelled_coroutine_ends_where_it_waits(shared):
    ref = shared.waits("async_heeds", grace=DEADLINE_SECONDS)
    shared.executor.cancel(ref)
    assert (shared.outcome(ref).kind, shared.outcome(ref).error) == ("cancelled", "was cancelled while it ran")
    assert "tidied up" in shared.text(ref)


def test_coroutine_past_its_time_limit_is_ended(shared, free):
    ref = shared.run("async_waits", path=str(free), timeout_seconds=0.2)
    assert shared.outcome(ref).kind == "timeout"
    assert shared.outcome(ref).error == "ran longer than its time limit of 0.2 s and was ended"


def test_tasks_that_it_leaves_are_cancelled(shared, free):
    ref = shared.run("async_leaves_tasks", path=str(free))
    assert shared.outcome(ref).kind == "success"
    assert "left tasks: 1 cancelled" in shared.text(ref)


@pytest.mark.parametrize("kind", ["cancelled", "timeout"])
def test_deaf_thread_is_abandoned_and_holds_its_place(shared, free, kind):
    ref = shared.waits("thread_waits", free, timeout_seconds=1 if kind == "timeout" else None)
    if kind == "cancelled":
        shared.executor.cancel(ref)
    assert abandonment(shared, ref).outcome.kind == kind
    assert not ends(shared, ref)
    assert "its thread cannot be ended and runs on" in shared.text(ref)
    free.touch()
    assert until(lambda: ends(shared, ref))[0].outcome.kind == kind


def test_thread_that_heeds_its_token_ends(shared):
    ref = shared.waits("thread_heeds")
    shared.executor.cancel(ref)
    assert until(lambda: ends(shared, ref))[0].outcome.kind == "cancelled"  # abandoned or not: who came first


def test_cancel_after_the_end_changes_nothing(shared):
    ref = shared.run("thread_ends", how="value")
    assert shared.outcome(ref).kind == "success"
    shared.executor.cancel(ref)
    assert shared.outcome(shared.run("thread_ends", how="value")).kind == "success"
    assert len(shared.reports.ends(ref)) == 1


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", ["async_blocks", "async_deaf"])
def test_one_that_will_not_end_costs_its_host(alone, free, name):
    other = alone.waits("async_waits", free)
    ref = alone.waits(name, free, grace=0.1)
    [host] = alone.hosts
    alone.executor.cancel(ref)
    assert alone.outcome(ref).kind == "cancelled"
    assert "its host process was killed, since it went on for its grace of 0.1 s" in alone.outcome(ref).error
    assert alone.outcome(other).kind == "lost"
    assert f"attempt 1 of instance {ref.instance_id} in it would not end" in alone.outcome(other).error
    assert not is_alive(host)


def test_blocking_coroutine_is_named_and_others_start_elsewhere(alone, free):
    ref = alone.waits("async_blocks", free)
    alone.prints(ref, "it has blocked the event loop for 1 s at ")
    assert "in wait_here_for" in alone.text(ref)
    [host] = alone.hosts
    waiting = alone.run("async_ends", how="value")
    assert alone.outcome(waiting).kind == "success"
    assert len(alone.hosts) == 2
    free.touch()
    assert alone.outcome(ref).kind == "success"
    until(lambda: not is_alive(host))


def test_what_has_not_begun_behind_a_blocker_begins_elsewhere(alone, free):
    ref = alone.waits("async_blocks", free)
    behind = alone.run("async_ends", how="value")
    assert alone.outcome(behind).kind == "success"
    assert not ends(alone, ref)


@pytest.mark.usefixtures("impatient")
def test_one_that_lets_no_thread_go_on_is_left_alone_and_ended(alone, free, monkeypatch):
    """Nothing in its host can say so, nor pass on a wish: the service sees that it does not answer."""
    alone.outcome(alone.run("async_ends", how="value"))
    ref = alone.waits("async_hogs", free, grace=0.1)
    with monkeypatch.context() as hurry:  # not before or after: it is to be that one that is waited for in vain
        hurry.setattr(hostseats, "ANSWER_SECONDS", 0.5)
        behind = [alone.run("async_ends", how="value"), alone.run("thread_ends", how="value")]
        until(lambda: "in async_hogs" in alone.said())
    for one in behind:
        assert alone.outcome(one).kind == "success"
    assert not ends(alone, ref)
    alone.executor.cancel(ref)
    assert alone.outcome(ref).kind == "cancelled"


def test_cancelled_behind_a_blocker_does_not_begin_elsewhere(alone, free):
    def end_behind_a_blocker():
        blocker = alone.waits("async_blocks", free)
        behind = alone.run("async_waits", path=str(free))
        alone.executor.cancel(behind)
        late = "has blocked the event loop" in alone.text(blocker)
        assert alone.outcome(behind).kind == "cancelled"
        return late, alone.outcome(behind).error

    # Another one, if that was told before it was cancelled: it may have begun elsewhere by then.
    _, error = until(lambda: not (end := end_behind_a_blocker())[0] and end)
    assert error == "was cancelled before it was started"


def test_segfault_costs_its_host_and_nothing_else(alone, free):
    script = alone.launch(f"until [ -e '{free}' ]; do sleep 0.01; done", 999)
    other = alone.waits("async_waits", free)
    ref = alone.run("thread_ends", how="segfault")
    for one in (ref, other):
        assert alone.outcome(one).kind == "lost"
        assert "was lost: the host process that it ran in was killed by signal 11 (SIGSEGV)" in alone.outcome(one).error
    assert "Segmentation fault" in alone.said()
    assert alone.outcome(alone.run("async_ends", how="value")).kind == "success"
    free.touch()
    assert alone.outcome(script).kind == "success"


def test_process_that_it_left_ends_with_it(shared, free):
    free.touch()
    ref = shared.run("thread_starts", path=str(free))
    assert shared.outcome(ref).kind == "success"
    assert shared.outcome(ref).descendants_ended == 1
    assert not is_alive(int(shared.text(ref).split()[0]))


def test_process_that_it_waits_for_ends_with_it(shared):
    ref = shared.waits("async_runs")
    pid = int(until(lambda: shared.text(ref).split()[1:])[0])
    shared.executor.cancel(ref)
    assert shared.outcome(ref).kind == "cancelled"
    assert not is_alive(pid)


def test_thread_that_waits_for_a_process_is_free_when_that_is_ended(shared):
    ref = shared.waits("thread_runs")
    shared.executor.cancel(ref)
    assert abandonment(shared, ref).outcome.kind == "cancelled"
    assert until(lambda: ends(shared, ref))


def test_killed_host_leaves_no_process(alone, free):
    ref = alone.run("thread_starts", path=str(free))
    sleeper = int(until(lambda: alone.text(ref).strip()))
    os.kill(alone.hosts[0], signal.SIGKILL)
    assert alone.outcome(ref).kind == "lost"
    until(lambda: not is_alive(sleeper))  # one that is just exiting has no memory any more by which it is found


def test_stop_of_the_node_does_not_hang_on_a_thread(alone, free):
    refs = [alone.waits(name, free) for name in ("thread_waits", "async_waits")]
    abandoned = alone.waits("thread_waits", free)
    alone.executor.cancel(abandoned)
    abandonment(alone, abandoned)
    alone.executor.end_hosts()
    for ref in refs:
        assert alone.outcome(ref).kind == "lost"
        assert "the service ended while it ran" in alone.outcome(ref).error
    until(lambda: not alone.hosts)


def test_what_is_killed_as_the_service_stops_is_said_to_end_with_it(alone, free, monkeypatch):
    """It was lost to a host that "was killed by signal 9", or, told too late, "exited with code 0"."""
    monkeypatch.setattr(hosting, "STOP_SECONDS", 0.1)
    ref = alone.waits("async_hogs", free)
    alone.executor.end_hosts()
    assert (alone.outcome(ref).kind, alone.outcome(ref).error) == STOPPED
