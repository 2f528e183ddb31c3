"""Telling the engine, in this process or another, that something was committed.

Never needed for correctness: the engine looks once a second by itself. It takes the second off.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction

SOCKET_NAME = "wake.sock"
CHANNEL = "rota_wake"

_listeners: list[Callable[[], None]] = []
_engines_here: list[Callable[[], None]] = []


def listen(listener: Callable[[], None], *, hosts_engine: bool = False) -> Callable[[], None]:
    """Call `listener` after each commit of this process that recorded an event. Returns what ends that.

    `hosts_engine`: the listener is the engine, so that no datagram has to go out to reach it.
    """
    lists = [_listeners, _engines_here] if hosts_engine else [_listeners]
    for kept in lists:
        kept.append(listener)

    def stop() -> None:
        for kept in lists:
            if listener in kept:
                kept.remove(listener)

    return stop


def after_commit() -> None:
    """Wake whoever follows the feed, once the transaction in hand has committed."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"NOTIFY {CHANNEL}")
    transaction.on_commit(_wake)


def _wake() -> None:
    for listener in tuple(_listeners):
        listener()
    if not _engines_here and connection.vendor == "sqlite":
        send_datagram(settings.DATA_DIR)


def send_datagram(data_dir: Path) -> None:
    """One empty datagram to the service of this data folder. Nobody there, or its buffer full, is fine: see above."""
    with (
        contextlib.suppress(FileNotFoundError, ConnectionRefusedError, BlockingIOError),
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sender,
        short_path(data_dir) as path,
    ):
        sender.sendto(b"", path)


@contextlib.contextmanager
def short_path(data_dir: Path) -> Iterator[str]:
    """The wake socket's address. A socket's path may have 108 bytes, a data folder's more: go by its descriptor."""
    folder = os.open(data_dir, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{SOCKET_NAME}"
    finally:
        os.close(folder)
