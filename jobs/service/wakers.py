"""Threads that hear other processes say "something was committed", and poke the engine."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import psycopg
from django.db import connection

from jobs.store import wake

log = logging.getLogger(__name__)

RECONNECT_SECONDS = 5.0


class Waker(Protocol):
    def open(self) -> None: ...
    def close(self) -> None: ...


def waker(data_dir: Path, poke: Callable[[], None]) -> Waker:
    """The waker of this database: NOTIFY on PostgreSQL, a socket in the data folder beside SQLite."""
    return PostgresWaker(poke) if connection.vendor == "postgresql" else DatagramWaker(data_dir, poke)


class DatagramWaker:
    """Any datagram to `wake.sock` is a poke. The service's lock on the folder makes sure that it is alone here."""

    def __init__(self, data_dir: Path, poke: Callable[[], None]) -> None:
        self._data_dir = data_dir
        self._poke = poke
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._thread = threading.Thread(target=self._work, name="waker", daemon=True)
        self._closing = False

    def open(self) -> None:
        (self._data_dir / wake.SOCKET_NAME).unlink(missing_ok=True)
        with wake.short_path(self._data_dir) as path:
            self._socket.bind(path)
        self._thread.start()

    def close(self) -> None:
        self._closing = True
        self._socket.shutdown(socket.SHUT_RD)  # ends its wait, whatever has become of the file
        self._thread.join()
        self._socket.close()
        (self._data_dir / wake.SOCKET_NAME).unlink(missing_ok=True)

    def _work(self) -> None:
        while not self._closing:
            self._socket.recv(16)
            self._poke()


class PostgresWaker:
    """Listens on a connection of its own. While it is down, the engine's look once a second does."""

    def __init__(self, poke: Callable[[], None]) -> None:
        self._poke = poke
        self._closing = threading.Event()
        self._listener: psycopg.Connection[tuple[object, ...]] | None = None
        self._thread = threading.Thread(target=self._work, name="waker", daemon=True)

    def open(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        listener = self._listener
        if listener is not None:
            # Another thread waits on it: shutting the socket down is what ends that wait at once.
            with suppress(psycopg.Error, OSError), socket.socket(fileno=os.dup(listener.fileno())) as raw:
                raw.shutdown(socket.SHUT_RDWR)
        self._thread.join(RECONNECT_SECONDS)

    def _work(self) -> None:
        while not self._closing.is_set():
            try:
                self._listen()
            except (psycopg.Error, OSError) as error:
                if not self._closing.is_set():
                    log.warning("not listening to the database (%s); trying again", str(error).strip())
            self._closing.wait(RECONNECT_SECONDS)

    def _listen(self) -> None:
        parameters = connection.get_connection_params()
        parameters.pop("cursor_factory", None)
        parameters.pop("context", None)
        with psycopg.connect(**parameters, autocommit=True) as listener:
            self._listener = listener
            try:
                if self._closing.is_set():  # it may have been looked for just before
                    return
                listener.execute(f"LISTEN {wake.CHANNEL}")
                for _ in listener.notifies():
                    self._poke()
            finally:
                self._listener = None
