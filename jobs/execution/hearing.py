"""By what a runner hears, beside what its job prints: the socket to the service, and signals. Standard library only."""

from __future__ import annotations

import os
import selectors
import signal
from contextlib import suppress

from jobs.execution.rundir import CANCEL_SIGNAL, RETIRE_SIGNAL

HEARD = -1  # among the streams in a selector


class Hearing:
    def __init__(self, notes: int, selector: selectors.BaseSelector) -> None:
        """`notes`: the socket to the service that asked for the attempt, which may be gone by now."""
        self._notes = notes
        self._selector = selector
        self._is_left = False  # that service is gone: the next will say by the signal what this one says by the socket
        self._is_adopted = False  # another has said already that it is there
        self._wake = listen_to_signals()
        os.set_blocking(notes, False)
        for fd in (notes, self._wake):
            selector.register(fd, selectors.EVENT_READ, HEARD)

    @property
    def descriptors(self) -> list[int]:
        return [self._wake] if self._is_left else [self._notes, self._wake]

    def tell(self, content: bytes) -> None:
        """Nobody, if the service is gone."""
        with suppress(OSError):
            os.write(self._notes, content)

    def cancel_comes(self, fd: int) -> bool:
        """Whether what `fd` has is the wish to cancel. The signal may be a job's that means something else by it, so it
        counts only if somebody may be there who cannot use the socket.
        """
        if fd != self._wake:
            return self._is_said()
        numbers = os.read(fd, 4096)
        self._is_adopted = self._is_adopted or RETIRE_SIGNAL in numbers
        return CANCEL_SIGNAL in numbers and (self._is_said() or self._is_left or self._is_adopted)

    def _is_said(self) -> bool:
        if self._is_left:
            return False
        try:
            said = os.read(self._notes, 4096)
        except BlockingIOError:
            return False
        except ConnectionResetError:  # it went without having read what it was told
            said = b""
        if not said:
            self._is_left = True
            self._selector.unregister(self._notes)
        return bool(said)

    @staticmethod
    def end() -> None:
        signal.set_wakeup_fd(-1)


def listen_to_signals() -> int:
    """Descriptor that becomes readable with the numbers of signals that came."""
    read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, CANCEL_SIGNAL):
        signal.signal(number, on_signal)
    return read


def on_signal(*_: object) -> None:
    """The wake-up descriptor says it all; a handler must be there for it to be written."""
