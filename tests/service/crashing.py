"""Starts `runscheduler` so that it kills itself, as `kill -9` would, at one row of the crash table; or has faults.

python -m tests.service.crashing ROW runscheduler --no-web
"""

import itertools
import os
import signal
import sys


def die(*_args: object, **_options: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def after(function):
    def wrapped(*args, **options):
        function(*args, **options)
        die()

    return wrapped


def dying_in_transaction(commit):
    """After the rows of a start are written, before they are committed."""
    from jobs.core.decisions import Start

    def wrapped(self, decisions, at):
        committed = commit(self, decisions, at)
        if any(isinstance(decision, Start) for decision in decisions):
            die()
        return committed

    return wrapped


def refusing(run_pass):
    """Every third pass fails as it does when the database is locked or away, some before and some after its commit."""
    from django.db import OperationalError

    calls = itertools.count()

    def wrapped(*args):
        call = next(calls)
        if call % 6 == 2:
            raise OperationalError("database is locked")
        passed = run_pass(*args)
        if call % 6 == 5:
            raise OperationalError("the connection was lost")
        return passed

    return wrapped


def gone(*_args: object) -> None:
    from django.db import OperationalError

    raise OperationalError("server closed the connection")


def crash_at(row: str) -> None:
    from jobs.execution import starter
    from jobs.execution.launch import Started
    from jobs.execution.launching import LauncherProcess
    from jobs.service.loop import EngineLoop
    from jobs.service.service import Service
    from jobs.store.orm import OrmStore

    match row:
        case "0 start decided":
            OrmStore.commit = dying_in_transaction(OrmStore.commit)
        case "1 start committed":
            EngineLoop._launch = lambda self, wanted: die() if wanted else None
        case "2 directory made":
            starter.prepare = after(starter.prepare)
        case "3 launcher asked":
            LauncherProcess.ask = after(LauncherProcess.ask)
        case "4 job begun":
            Service._reported = lambda self, report: die() if isinstance(report, Started) else None
        case "5 result written":
            Service._reported = lambda self, report: None if isinstance(report, Started) else die()
        case "6 outcome committed":
            act = EngineLoop._act
            EngineLoop._act = lambda self, passed: die() if passed.finishes else act(self, passed)


def have_fault(fault: str) -> None:
    from django.conf import settings

    from jobs.execution.local import LocalExecutor
    from jobs.service import loop, registration

    match fault:
        case "the executor hangs":
            loop.HEARTBEAT_SECONDS = 0.5
            LocalExecutor.ask = lambda self, _answered: None
        case "beats often":
            loop.HEARTBEAT_SECONDS = 0.5
        case "impatient":
            settings.PATIENCE_SECONDS = 0
        case "the database goes":
            registration.register = gone
        case "the database refuses":
            loop.run_pass = refusing(loop.run_pass)
        case _:
            sys.exit(f"no such row or fault: {fault}")


ROWS = [
    "0 start decided",
    "1 start committed",
    "2 directory made",
    "3 launcher asked",
    "4 job begun",
    "5 result written",
    "6 outcome committed",
]

if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_site.settings")
    django.setup()
    (crash_at if sys.argv[1] in ROWS else have_fault)(sys.argv[1])
    from django.core.management import execute_from_command_line

    execute_from_command_line(["manage.py", *sys.argv[2:]])
