"""What the host of a coroutine that blocks does, without one."""

from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from jobs.callables import host, streams
from jobs.callables.watchdog import theirs
from jobs.execution import logwriter


@pytest.fixture
def its(monkeypatch):
    monkeypatch.setattr(host, "Coroutines", Mock())
    monkeypatch.setattr(host, "call_of", Mock())
    its = host.Host(Mock(), Mock(), reports=0)
    its._clerk = Mock(put=lambda call: call())
    return its


def test_what_was_on_its_way_to_a_blocked_host_is_handed_back(its, monkeypatch):
    """Sent before the service heard of that, and taken after what had come before was handed back: it waited for the
    end of the blocker.
    """
    hosted = Mock(token="mine", why_not=lambda: None, withdraw=lambda: True)
    hosted.configure_mock(**{"spec.hosted": "async"})
    monkeypatch.setattr(host, "taken", lambda *_: hosted)
    its._blocked(None, "has blocked")
    its._start("mine", "/nowhere")
    assert hosted.hand_back.called
    assert its._link.send.call_args.kwargs == {"returned": "mine"}


def test_one_that_comes_as_the_last_one_ends_is_watched(its):
    """Nobody looked whether it blocks."""
    needed, came = its._watchdog.needed, Mock(token="new")
    its._attempts["last"] = last = Mock(token="last")
    its._watchdog.needed = Mock(clear=lambda: its._attempts.update(new=came), set=needed.set)
    its._ended(last, Mock())
    assert needed.is_set()


@pytest.mark.parametrize("module", [streams, logwriter])
def test_what_takes_the_output_is_not_the_place_that_blocks(module):
    """A disk that takes no line for a second was said to be blocked by a line of Rota."""
    code = SimpleNamespace(co_filename=module.__file__)
    assert not theirs(SimpleNamespace(f_code=code, f_globals={"__name__": module.__name__}))
