"""Standard output and error of a host: what a callable prints goes into the log of its own attempt.

Whose it is, is known by the context that runs: the task's, the thread's, that of `asyncio.to_thread`. A thread that a
callable starts itself has none, and prints into the host's own log, as does what outlives its attempt.
"""

from __future__ import annotations

import io
import logging
import os
import sys
from contextvars import ContextVar
from types import ModuleType
from typing import Any, Protocol, TextIO

from jobs.execution.logwriter import STDERR, STDOUT


class Printing(Protocol):
    """An attempt. `starts_no_more`: it may start no process (any more). `redirected`: what it has put in place of a
    stream.
    """

    redirected: dict[int, Any]

    @property
    def token(self) -> str: ...
    @property
    def starts_no_more(self) -> bool: ...
    def print(self, stream: int, data: bytes) -> bool: ...
    def flush(self, stream: int) -> None: ...


current: ContextVar[Printing | None] = ContextVar("rota_attempt", default=None)
passing_on: ContextVar[bool] = ContextVar("rota_passing_on", default=False)  # to what it has put in place of a stream


class Bytes(io.RawIOBase):
    """`buffer` of a stream."""

    def __init__(self, stream: int, other: TextIO) -> None:
        self._stream = stream
        self._other = other
        self._process = os.getpid()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        content = memoryview(data).tobytes()  # type: ignore[arg-type]  # whatever else it is, TypeError says so
        attempt = None if os.getpid() != self._process else current.get()  # a fork has no say in the log
        if attempt is None or not attempt.print(self._stream, content):
            self._other.buffer.write(content)
            self._other.buffer.flush()
        return len(content)

    def flush(self) -> None:
        if os.getpid() == self._process and (attempt := current.get()):
            attempt.flush(self._stream)

    def fileno(self) -> int:
        return self._other.fileno()


class Stream(io.TextIOBase):
    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, stream: int, other: TextIO) -> None:
        """other: the host's own."""
        self.buffer = Bytes(stream, other)
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() was given {type(text).__name__}, expected str")
        attempt = current.get()
        if attempt is None or self._stream not in attempt.redirected or passing_on.get():
            self.buffer.write(text.encode(self.encoding, "backslashreplace"))
        elif (instead := attempt.redirected[self._stream]) is not None:
            before = passing_on.set(True)  # it may write here what it is given
            try:
                instead.write(text)
            finally:
                passing_on.reset(before)
        return len(text)

    def flush(self) -> None:
        self.buffer.flush()

    def fileno(self) -> int:
        return self.buffer.fileno()


def install() -> None:
    """To be called before the project is loaded: what it sets up for logging is to find these."""
    sys.stdout, sys.stderr = Stream(STDOUT, sys.stdout), Stream(STDERR, sys.stderr)
    sys.__class__ = OwnStreams


def own(stream: int, name: str) -> property:
    """An attempt that sets `sys.stdout`, as contextlib.redirect_stdout does, sets it for itself."""

    def value(module: ModuleType) -> Any:
        attempt = current.get()
        return module.__dict__[name] if attempt is None else attempt.redirected.get(stream, module.__dict__[name])

    def put(module: ModuleType, value: Any) -> None:
        if (attempt := current.get()) is None:
            module.__dict__[name] = value
        elif value is module.__dict__[name]:
            attempt.redirected.pop(stream, None)
        else:
            attempt.redirected[stream] = value

    return property(value, put)


class OwnStreams(ModuleType):
    """Of the module sys. `print` looks into its dictionary, and finds a Stream."""

    stdout = own(STDOUT, "stdout")
    stderr = own(STDERR, "stderr")


def install_logging() -> None:
    """What is logged from INFO on goes to standard error, if the project has not decided otherwise."""
    root = logging.getLogger()
    if not root.handlers:
        logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
