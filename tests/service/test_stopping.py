"""The service is asked to stop by a signal, which comes at any moment."""

import signal
import sys
import threading
from unittest.mock import Mock

import pytest

from jobs.execution.tree import process
from jobs.management.commands.runscheduler import Command
from tests.waiting import DEADLINE_SECONDS, until


@pytest.fixture
def _handlers():
    """Those from before are put back, and whoever waits for ever gets an error."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM)}
    signal.signal(signal.SIGALRM, fail)
    signal.alarm(DEADLINE_SECONDS)
    yield
    signal.alarm(0)
    for number, handler in before.items():
        signal.signal(number, handler)


def fail(_number, _frame):
    raise TimeoutError("it waits for ever")


@pytest.mark.usefixtures("_handlers")
def test_signal_that_comes_as_it_begins_to_wait_is_heeded():
    """The handler waited for the lock of the wait that it had interrupted: the service went on until it was killed."""

    def interrupt(_frame, _event, called):
        if getattr(called, "__name__", "") == "recv":
            sys.setprofile(None)
            signal.raise_signal(signal.SIGTERM)

    service = Mock()
    sys.setprofile(interrupt)
    try:
        Command()._wait(service)
    finally:
        sys.setprofile(None)
    assert service.close.called


@pytest.mark.usefixtures("_handlers")
def test_signal_that_another_thread_takes_is_heeded(monkeypatch):
    """Nothing told the thread that waited: the service went on until it was killed. So did one that was just about to
    wait.
    """
    main = threading.main_thread()

    def waits() -> bool:
        return (
            sys._current_frames()[main.ident].f_code is Command._wait.__code__ and process(main.native_id).state == "S"
        )

    def take() -> None:
        until(waits)
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    taking = threading.Thread(target=take)
    monkeypatch.setattr(Command, "_say", lambda *_: taking.start())
    service = Mock()
    Command()._wait(service)
    taking.join()
    assert service.close.called
