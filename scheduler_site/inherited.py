"""Undoes what whoever started this process may have left it with, before anything is opened. Standard library only.

Streams that are closed: the next file or socket gets their number, and is printed into. Signals that are blocked: a
TERM never comes, nor a cancel to a runner. A umask of 0, as daemons had it: everybody may write the database; one that
takes even our own right: a log that cannot be read.
"""

import os
import signal
import sys


def undo() -> None:
    open_streams()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(os.umask(0o022) & 0o077 | 0o022)


def open_streams() -> None:
    """All of stdin, stdout and stderr that are closed become /dev/null."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(fd, True)  # as streams are
    os.close(fd)
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
