"""The clean-up command of a job: run when an attempt has ended and nothing of it is alive, into the same log.

It has the job's environment, directory, limits and user, and beside that ROTA_OUTCOME, ROTA_EXIT_CODE and ROTA_SIGNAL.
What it does changes nothing of how the attempt ended. Standard library only.
"""

from __future__ import annotations

import os
import selectors
import signal
import time
from typing import NamedTuple

from jobs.execution.beginning import Beginning, NotBegunError
from jobs.execution.ending import LINGER_MOST_SECONDS, LINGER_SECONDS, any_runs, end_all
from jobs.execution.logwriter import LogWriter
from jobs.execution.moment import LONGEST_WAIT_SECONDS
from jobs.execution.program import StartError, shell
from jobs.execution.pump import Pump
from jobs.execution.spawn import Surroundings, fork_to_exec, start_job
from jobs.execution.verdict import Verdict, verdict

# Which end of an attempt is which of `cleanup_after`.
ENDS = {
    "success": "success",
    "failed": "failure",
    "memory_exceeded": "failure",
    "timeout": "timeout",
    "cancelled": "cancel",
}
ENDED = 0


class CleanUp(NamedTuple):
    """`after`: the ends that it follows, as in ENDS; `limit_seconds`: then all of it is killed."""

    command: str
    after: list[str]
    limit_seconds: float


def clean_up(wanted: CleanUp, how: Verdict, around: Surroundings, log: LogWriter) -> None:
    """Returns when it has ended with all that it started. The log tells how."""
    if not wanted.command or ENDS.get(how.kind) not in wanted.after:
        return
    log.notice("clean-up begins")
    # Closed here: later the garbage collector would close what has its number by then, of the runner's next attempt.
    with selectors.DefaultSelector() as selector:
        log.notice(f"clean-up {how_it_went(wanted, how, around, log, selector)}")


def how_it_went(
    wanted: CleanUp, how: Verdict, around: Surroundings, log: LogWriter, selector: selectors.BaseSelector
) -> str:
    pump = Pump(log, selector)
    env = {**around.env, "ROTA_OUTCOME": how.kind, **numbers(how)}
    around = around._replace(env=env, stdout=pump.stdout, stderr=pump.stderr)
    try:
        beginning = Beginning(None, wanted.limit_seconds, log.notice)
        pid = start_job(shell(wanted.command), around, fork_to_exec, beginning)
    except (StartError, NotBegunError) as error:
        end_all()
        return str(error)
    finally:
        pump.close_writers()
    in_time = attend(pid, selector, pump, time.monotonic() + wanted.limit_seconds)
    if in_time:
        linger(selector, pump)
    status = end_all().get(pid, signal.SIGKILL)
    pump.drain()
    return said(status, in_time, wanted.limit_seconds)


def numbers(how: Verdict) -> dict[str, str]:
    """Absent where there is none."""
    given = {"ROTA_EXIT_CODE": how.exit_code, "ROTA_SIGNAL": how.signal}
    return {name: str(number) for name, number in given.items() if number is not None}


def attend(pid: int, selector: selectors.BaseSelector, pump: Pump, until: float) -> bool:
    """Take what it prints until it ends; False if it has not by `until` (monotonic seconds)."""
    pidfd = os.pidfd_open(pid)
    try:
        selector.register(pidfd, selectors.EVENT_READ, ENDED)
        while (left := until - time.monotonic()) > 0:
            for key, _ in selector.select(min(left, LONGEST_WAIT_SECONDS)):
                if key.data == ENDED:
                    selector.unregister(pidfd)
                    return True
                pump.pump(key.fd, key.data)
        selector.unregister(pidfd)
        return False
    finally:
        os.close(pidfd)


def linger(selector: selectors.BaseSelector, pump: Pump) -> None:
    """A filter of its output, as of `exec > >(tee log)`, is a moment behind."""
    until = time.monotonic() + LINGER_MOST_SECONDS
    while selector.get_map() and (left := until - time.monotonic()) > 0:
        ready = selector.select(min(left, LINGER_SECONDS))
        for key, _ in ready:
            pump.pump(key.fd, key.data)
        if not ready and not any_runs():
            return


def said(status: int, in_time: bool, limit_seconds: float) -> str:
    if not in_time:
        return f"did not end in {limit_seconds:g} s and was killed"
    how = verdict(status, None)
    return "ended" if how.kind == "success" else how.error
