"""The service is asked to stop by a signal, which comes at any moment."""

import signal
import sys
from threading import Condition
from unittest.mock import Mock

import pytest

from jobs.management.commands.runscheduler import Command
from tests.waiting import DEADLINE_SECONDS


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

    def interrupt(frame, event, called):
        waits = frame.f_code is Condition.wait.__code__ if event == "call" else getattr(called, "__name__", "") == "get"
        if waits:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGTERM)

    service = Mock()
    sys.setprofile(interrupt)
    try:
        Command()._wait(service)
    finally:
        sys.setprofile(None)
    assert service.close.called
