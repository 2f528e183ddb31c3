"""Keeps an environment from being removed while a runner uses it. Standard library only."""

from __future__ import annotations

import fcntl
import os

IN_USE = "in-use"


def hold(environment: str) -> None:
    """Until this process has ended. FileNotFoundError if the environment is not there (any more)."""
    fd = os.open(f"{environment}/{IN_USE}", os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(fd, fcntl.LOCK_SH)
