"""The job's output: two pipes and the log that they end in. Standard library only."""

from __future__ import annotations

import fcntl
import os
import selectors
from collections.abc import Callable

from jobs.execution.logwriter import STDERR, STDOUT, LogWriter

READ_BYTES = 65536  # what a pipe usually holds


class Pump:
    """Reads both pipes whenever they have something, so that the job never waits for a reader. What the log may tell,
    and no more, is passed on.
    """

    def __init__(
        self, log: LogWriter, selector: selectors.BaseSelector, on_stdout: Callable[[bytes], object] = bool
    ) -> None:
        """`on_stdout` is given what comes by standard output, too."""
        self._log = log
        self._on_stdout = on_stdout
        self._selector = selector
        self.stdout, self.stderr = (self._pipe(stream) for stream in (STDOUT, STDERR))

    def _pipe(self, stream: int) -> int:
        """The end that the job writes to."""
        read, write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(read, False)
        self._selector.register(read, selectors.EVENT_READ, stream)
        return write

    def close_writers(self) -> None:
        """The job has them now: while the runner holds them too, the pipes would never end."""
        os.close(self.stdout)
        os.close(self.stderr)

    def pump(self, fd: int, stream: int) -> bool:
        """Take one read. False if there was nothing."""
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return False
        if data:
            self._pass_on(stream, self._log.write(stream, data))
            return True
        self._pass_on(stream, self._log.flush(stream))
        self._selector.unregister(fd)
        os.close(fd)
        return False

    def _pass_on(self, stream: int, told: bytes) -> None:
        if stream == STDOUT and told:
            self._on_stdout(told)

    def take_waiting(self) -> None:
        """Take what is left in the pipes, and no more than they hold: somebody who is not ours may go on writing."""
        for key in self._open():
            for _ in range(fcntl.fcntl(key.fd, fcntl.F_GETPIPE_SZ) // READ_BYTES + 1):
                if not self.pump(key.fd, key.data):
                    break

    def drain(self) -> None:
        """The same, and nothing follows."""
        self.take_waiting()
        for key in self._open():
            self._pass_on(key.data, self._log.flush(key.data))

    def _open(self) -> list[selectors.SelectorKey]:
        return [key for key in self._selector.get_map().values() if key.data in (STDOUT, STDERR)]
