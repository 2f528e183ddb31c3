"""What a callable is told, and how it learns that it is to end."""

import asyncio
import signal
import sys
import threading
from pathlib import Path

import pytest

from jobs.callables.context import Cancelled, Context, cancel_by_term
from jobs.callables.errors import JobCancelled
from jobs.execution.tree import process
from tests.waiting import DEADLINE_SECONDS, until


def context(told=None, **more):
    told = [] if told is None else told
    return Context(7, 2, {"a": 1}, Cancelled(), lambda *said: told.append(said), Path, **more)


def test_it_knows_its_run():
    its = context()
    assert (its.instance_id, its.attempt, its.parameters, bool(its.cancelled)) == (7, 2, {"a": 1}, False)


@pytest.mark.parametrize("done", [-0.1, 1.1, float("nan"), "half", None])
def test_progress_is_from_0_to_1(done):
    with pytest.raises(ValueError, match="expected a number from 0 to 1"):
        context().progress(done)


def test_progress_is_passed_on():
    told = []
    context(told).progress(1, "all")
    assert told == [(1.0, "all")]


async def test_a_coroutine_may_await_its_end():
    its = context()
    waiting = asyncio.ensure_future(asyncio.wait_for(its.cancelled, 60))
    await asyncio.sleep(0)
    threading.Thread(target=its.cancelled.cancel).start()
    await waiting
    await its.cancelled
    assert its.cancelled


def test_a_deep_loop_gets_out_by_a_check():
    its = context()
    its.cancelled.check()
    its.cancelled.cancel()
    with pytest.raises(JobCancelled):
        its.cancelled.check()


def test_who_asks_is_listened_for_once():
    asked = []
    its = context(listen=lambda: asked.append(1))
    assert not its.cancelled
    assert not its.cancelled
    assert asked == [1]


def test_signal_that_comes_as_it_begins_to_wait_is_heeded(monkeypatch):
    """Its handler waited for the lock of what it had interrupted: the callable hung until it was killed."""
    handlers = {}
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    cancel_by_term(cancelled := Cancelled())
    handler = threading.Thread(target=handlers[signal.SIGTERM], args=(signal.SIGTERM, None), daemon=True)
    with cancelled._set._cond:  # as wait() has it for a moment
        handler.start()
        handler.join(DEADLINE_SECONDS)
        assert not handler.is_alive()
    assert cancelled.wait(DEADLINE_SECONDS)


def test_term_that_another_thread_takes_ends_the_wait():
    """Nothing told the one that waited, as where it comes just before the wait: it hung until it was killed."""
    before = signal.getsignal(signal.SIGTERM)
    main = threading.main_thread()
    cancelled = Cancelled()
    cancel_by_term(cancelled)

    def take():
        until(lambda: waits(main) and process(main.native_id).state == "S")
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    taking = threading.Thread(target=take)
    try:
        taking.start()
        assert cancelled.wait(DEADLINE_SECONDS)
    finally:
        taking.join()
        signal.signal(signal.SIGTERM, before)


def waits(thread):
    return sys._current_frames()[thread.ident].f_code is threading.Condition.wait.__code__
