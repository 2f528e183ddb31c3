"""What would change a host for all callables in it is refused to each of them; a process of their own may do it."""

from __future__ import annotations

import locale
import os
import resource
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from jobs.callables import streams
from jobs.callables.errors import SharedProcessError

STREAMS = range(3)


def always(*_: Any, **__: Any) -> bool:
    return True


def of_this_process(pid: int, *_: Any) -> bool:
    return pid in (0, os.getpid())


def of_a_stream(fd: int, fd2: int | None = None, *_: Any, **__: Any) -> bool:
    return (fd if fd2 is None else fd2) in STREAMS


def of_a_choice(category: int, locale: object = None) -> bool:  # noqa: ARG001 as setlocale is called
    return locale is not None


def install() -> None:
    """From now on, in this process and not in its forks."""
    here = os.getpid()

    def refuse(module: ModuleType, name: str, when: Callable[..., bool] = always) -> None:
        call = getattr(module, name)

        def refusing(*args: Any, **keywords: Any) -> Any:
            if streams.current.get() is not None and os.getpid() == here and when(*args, **keywords):
                raise SharedProcessError(f"{module.__name__}.{name}")
            return call(*args, **keywords)

        setattr(module, name, refusing)

    for name in ("chdir", "fchdir", "chroot", "umask", "nice", "closerange"):
        refuse(os, name)
    for name in ("settrace", "setprofile", "setrecursionlimit"):
        refuse(sys, name)
    refuse(resource, "setrlimit")
    refuse(os, "sched_setaffinity", of_this_process)
    refuse(os, "close", of_a_stream)
    refuse(os, "dup2", of_a_stream)
    refuse(locale, "setlocale", of_a_choice)
