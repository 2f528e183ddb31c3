"""What the host of a coroutine that blocks does, without one."""

from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from jobs.callables import host, streams
from jobs.callables.watchdog import theirs
from jobs.execution import logwriter


@pytest.fixture
def blocked(monkeypatch):
    """A host that has found itself blocked, and said so."""
    monkeypatch.setattr(host, "Coroutines", Mock())
    monkeypatch.setattr(host, "call_of", Mock())
    blocked = host.Host(Mock(), Mock(), reports=0)
    blocked._clerk = Mock(put=lambda call: call())
    blocked._blocked(None, "has blocked")
    return blocked


def test_what_was_on_its_way_to_a_blocked_host_is_handed_back(blocked, monkeypatch):
    """Sent before the service heard of that, and taken after what had come before was handed back: it waited for the
    end of the blocker.
    """
    hosted = Mock(token="mine", why_not=lambda: None, withdraw=lambda: True)
    hosted.configure_mock(**{"spec.hosted": "async"})
    monkeypatch.setattr(host, "taken", lambda *_: hosted)
    blocked._start("mine", "/nowhere")
    assert hosted.hand_back.called
    assert blocked._link.send.call_args.kwargs == {"returned": "mine"}


@pytest.mark.parametrize("module", [streams, logwriter])
def test_what_takes_the_output_is_not_the_place_that_blocks(module):
    """A disk that takes no line for a second was said to be blocked by a line of Rota."""
    code = SimpleNamespace(co_filename=module.__file__)
    assert not theirs(SimpleNamespace(f_code=code, f_globals={"__name__": module.__name__}))
