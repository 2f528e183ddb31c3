"""The executor's thread gives everybody a turn."""

import os
import threading
from functools import partial

import pytest

from jobs.execution import loop as loop_module
from jobs.execution.loop import Loop, LoopClosedError
from tests.waiting import DEADLINE_SECONDS


@pytest.fixture
def loop(monkeypatch):
    monkeypatch.setattr(loop_module, "LATER_SECONDS", 0.05)
    loop = Loop("test")
    loop.start()
    yield loop
    loop.stop()


def test_busy_node_gives_a_turn_to_what_waits(loop):
    """It was looked at in quiet rounds only, of which a busy node has none."""
    done, given_up = threading.Event(), threading.Event()

    def be_busy():
        if not done.is_set() and not given_up.is_set():
            loop.post(be_busy)

    loop.post(be_busy)
    loop.post(partial(loop.later, done.set))
    came = done.wait(DEADLINE_SECONDS)
    given_up.set()
    assert came


def test_number_of_a_closed_file_is_not_taken_for_its_heir(loop):
    """Two are ready; the first closes the second, and a file that is not ready gets its number."""
    pipes = [os.pipe() for _ in range(3)]
    (one, _), (two, _), (heir, _) = pipes
    called, done = [], threading.Event()

    def first(own, other):
        loop.no_longer(own)
        loop.no_longer(other)
        os.dup2(heir, other)
        loop.on_readable(other, partial(called.append, other))
        loop.post(done.set)

    def register():
        loop.on_readable(one, partial(first, one, two))
        loop.on_readable(two, partial(first, two, one))

    for _, write in pipes[:2]:
        os.write(write, b"x")
    loop.post(register)
    assert done.wait(DEADLINE_SECONDS)
    assert called == []
    for fds in pipes:
        for fd in fds:
            os.close(fd)


def test_thread_that_hangs_is_left_behind_at_the_end(monkeypatch, caplog):
    """A thread that waited for a FIFO kept a SIGTERM from ending the service."""
    monkeypatch.setattr(loop_module, "STOP_SECONDS", 0.05)
    loop, released = Loop("hanging"), threading.Event()
    loop.start()
    loop.post(released.wait)
    loop.stop()
    assert "is left behind" in caplog.text
    with pytest.raises(LoopClosedError):
        loop.post(released.set)
    released.set()
    loop._thread.join(DEADLINE_SECONDS)
    assert not loop._thread.is_alive()


def test_what_fails_unforeseen_is_tried_again(loop, caplog):
    """It was dropped: the attempt kept its cores until the next start."""
    errors, done = [RecursionError("one"), ValueError("two")], threading.Event()

    def fail_twice():
        if errors:
            raise errors.pop()
        done.set()

    loop.post(partial(loop.insist, fail_twice))
    assert done.wait(DEADLINE_SECONDS)
    assert "nobody foresaw" in caplog.text


def test_executor_that_hangs_does_not_answer(node):
    released, answered = threading.Event(), threading.Event()
    node.executor._loop.post(released.wait)
    node.executor.ask(answered.set)
    assert not answered.is_set()
    released.set()
    assert answered.wait(DEADLINE_SECONDS)
