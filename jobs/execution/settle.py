"""What became of an attempt, found out from its run directory alone: crash points 3 to 6 of docs/crash-safety.md."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind
from jobs.execution import moment, secretfiles
from jobs.execution.claim import RECOVERY, claim_as_recovery, open_holder
from jobs.execution.rundir import RESULT, SPEC, STARTED, BrokenFileError, NotAFileError, RunDir
from jobs.execution.spec import FormatError, Result, Spec
from jobs.execution.tree import Process, marked, send_all
from jobs.execution.verdict import STOPPED

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Holder:
    """The runner that is alive; `pidfd` belongs to whoever asked."""

    pidfd: int

    def close(self) -> None:
        os.close(self.pidfd)


@dataclass(frozen=True, slots=True)
class Gone:
    """Its runner is gone without a result that can be read; `why` that is, if it left one."""

    why: str = ""


NEVER_RAN = None
Settled = Holder | Result | Gone | None


def settle(path: str) -> Settled:
    """Who has the say over the attempt in `path`: a living Holder; nobody any more, since it has a Result or is Gone;
    or NEVER_RAN, and from now on it cannot from this directory.
    """
    with suppress(FileNotFoundError), RunDir(path) as rundir:  # it may be removed while we look
        if not rundir.has(SPEC):
            return NEVER_RAN
        try:
            while (said := claim_as_recovery(rundir)) is None:
                if holder := open_holder(rundir):
                    return Holder(holder[1])
        except NotAFileError as error:  # only a job that runs can have done it: who else holds it cannot be seen
            return result_in(rundir) or Gone(f"was lost: its claim cannot be read: {error}")
        if said == RECOVERY:
            return NEVER_RAN
        return result_in(rundir) or Gone()  # only now: before, a living runner could have written it after our look
    return NEVER_RAN


def read_result(path: str) -> Result | Gone | None:
    """The result in `path`, Gone if it cannot be read, None if there is none yet, or no directory. OSError if the disk
    does not give it.
    """
    with suppress(FileNotFoundError), RunDir(path) as rundir:
        return result_in(rundir)
    return None


def result_in(rundir: RunDir) -> Result | Gone | None:
    """Of a Result an outcome can be made. What cannot be read no runner wrote, so something of the attempt may live."""
    try:
        if (data := rundir.read_json(RESULT)) is None:
            return None
        result = Result.from_json(data)
        outcome_of(result)  # an unknown kind, or a moment that is none
    except (ValueError, TypeError, OverflowError) as error:
        return Gone(f"it has ended, but its result cannot be read: {error}")
    return result


def outcome_of(result: Result) -> Outcome:
    return Outcome(
        kind=OutcomeKind(result.kind),
        ended_at=utc(result.ended_at),
        started_at=None if result.started_at is None else utc(result.started_at),
        exit_code=result.exit_code,
        signal=result.signal,
        error=result.error,
        duration_seconds=result.duration_seconds,
        cpu_seconds=result.cpu_seconds,
        peak_memory_bytes=result.peak_memory_bytes,
        descendants_ended=result.descendants_ended,
        result=result.value,
        final=result.final,
    )


def utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def started_facts(path: str) -> dict[str, Any]:
    """pid, at, ticks and boot_id of the job; nothing if it has not started, or the file cannot be read."""
    with suppress(FileNotFoundError, ValueError, TypeError, KeyError, OverflowError), RunDir(path) as rundir:
        facts = rundir.read_json(STARTED) or {}
        return {"pid": int(facts["pid"]), "at": utc(facts["at"]).timestamp(), "ticks": int(facts["ticks"]),
                "boot_id": facts["boot_id"]}  # fmt: skip
    return {}


# --- An attempt whose runner is gone ---


def left_of(path: str, token: str, inside: Collection[Process] = ()) -> list[Process]:
    """What is alive of it. `inside`: what is alive in its cgroups."""
    facts = started_facts(path)
    leader = None
    if facts.get("boot_id") == moment.boot_id():
        leader = Process(facts["pid"], 0, facts["pid"], facts["pid"], "", facts["ticks"])
    found = {one.pid: one for one in (*marked(token, leader), *inside)}
    return [one for pid, one in found.items() if pid != os.getpid()]


def kill(found: list[Process]) -> None:
    for one in send_all(found, signal.SIGKILL):
        logger.error("process %d of a lost attempt belongs to another user: it must be ended by hand", one.pid)


def lost(path: str, token: str, ended: int, why: str = "") -> Outcome:
    """Its outcome, also written as its result, so that every later look says the same and its log counts as complete.

    `ended`: how many processes the sweep has ended. `why`: if that is known already.
    """
    secretfiles.take_back(path)
    at = started_facts(path).get("at")
    why = why or why_lost(path, ended)
    return written(path, Result(token, OutcomeKind.LOST, time.time(), why, started_at=at, descendants_ended=ended))


def written(path: str, result: Result) -> Outcome:
    """The outcome, in place of whoever should have written it, if the disk lets us."""
    try:
        with RunDir(path) as rundir:
            rundir.write_json(RESULT, result.to_json(), durable=True)
    except (OSError, BrokenFileError) as error:
        logger.warning("%s: that the attempt has ended could not be written: %s", path, error)
    return outcome_of(result)


def why_lost(path: str, ended: int) -> str:
    try:
        with RunDir(path) as rundir:
            spec = Spec.from_json(rundir.read_json(SPEC) or {})
        restarted = spec.asked_at.boot_id != moment.boot_id()
        if spec.hosted and not restarted:
            return STOPPED.error
    except FileNotFoundError:
        return "was lost: its run directory was removed while it ran"
    except (BrokenFileError, FormatError, TypeError, AttributeError):  # whatever a job has made of it
        restarted = False
    if restarted:
        return "was lost: the machine was restarted before the end was recorded"
    swept = f"; {ended} processes that it left were ended" if ended else ""
    return f"was lost: its runner was killed before it could record the end{swept}"


def not_started(kind: OutcomeKind, error: str) -> Outcome:
    return Outcome(kind, utc(time.time()), error=error)
