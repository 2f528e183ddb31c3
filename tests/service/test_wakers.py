"""Threads that hear that something was committed, and their end."""

import threading
from unittest.mock import MagicMock

import psycopg

from jobs.service.wakers import DatagramWaker, PostgresWaker
from jobs.store import wake
from tests.waiting import DEADLINE_SECONDS, until


def test_waker_whose_socket_was_removed_ends(tmp_path):
    """It was woken by way of its file: without that the service did not stop."""
    waker = DatagramWaker(tmp_path, lambda: None)
    waker.open()
    (tmp_path / wake.SOCKET_NAME).unlink()
    closing = threading.Thread(target=waker.close, daemon=True)
    closing.start()
    closing.join(DEADLINE_SECONDS)
    assert not closing.is_alive()


def test_waker_that_is_closed_as_it_connects_does_not_listen(monkeypatch):
    """Nobody ended its wait any more: the stop of the service took five seconds longer."""
    connecting, connected, listener = threading.Event(), threading.Event(), MagicMock()
    listener.__enter__.return_value.fileno.side_effect = OSError

    def connect(**_options):
        connecting.set()
        connected.wait(DEADLINE_SECONDS)
        return listener

    monkeypatch.setattr(psycopg, "connect", connect)
    waker = PostgresWaker(lambda: None)
    waker.open()
    assert connecting.wait(DEADLINE_SECONDS)
    closing = threading.Thread(target=waker.close)
    closing.start()
    until(waker._closing.is_set)
    connected.set()
    closing.join(DEADLINE_SECONDS)
    until(lambda: not waker._thread.is_alive())
    assert not listener.__enter__.return_value.notifies.called
