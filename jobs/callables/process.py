"""What makes a host of a process: it dies with the service, has the project loaded, and its exit is nobody else's."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
from typing import NoReturn

from jobs.callables import streams
from jobs.execution.spawn import die_with
from jobs.execution.undumpable import hide_process

DEAF_TO = (
    signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGUSR1,
)  # fmt: skip


class Exited(SystemExit):
    """os._exit was called in a host."""


def begin(service: int) -> None:
    """`service`: the process with which this one dies."""
    die_with(service)
    hide_process()
    take_no_signals()
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR2)  # the service asks where it stands, if it does not answer
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def take_no_signals() -> None:
    """Those that anybody may send or have sent, an alarm say. By a handler, which what is exec'd does not inherit."""
    here = os.getpid()
    for number in DEAF_TO:
        signal.signal(number, lambda _number, _frame: None)

    def take_signals() -> None:
        if os.getppid() == here:  # what a fork itself forks finds what that has chosen
            for number in DEAF_TO:
                signal.signal(number, signal.SIG_DFL)

    os.register_at_fork(after_in_child=take_signals)


def load_project() -> None:
    """After standard output and error are what they are to be: logging is set up to use them."""
    import django

    django.setup()
    streams.install_logging()


def fresh_connections() -> None:
    """As Django does before and after a request: one that broke, or is too old, is made anew when it is next used."""
    from django.db import close_old_connections

    close_old_connections()


def close_connections() -> None:
    """None may cross a fork."""
    from django.db import connections

    connections.close_all()


def keep_exits() -> None:
    """A callable that calls os._exit ends its own attempt, not the others with it. Its children do exit."""
    own, leave = os.getpid(), os._exit

    def exits(status: int) -> NoReturn:
        if os.getpid() == own and streams.current.get() is not None:
            raise Exited(status)
        leave(status)

    os._exit = exits
