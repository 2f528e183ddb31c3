"""How an attempt ended, in a word and a sentence. Standard library only."""

from __future__ import annotations

import os
import signal
from typing import NamedTuple

from jobs.execution.rundir import ERROR_FILE, WORK, BrokenFileError, RunDir


class Verdict(NamedTuple):
    """`kind` is a value of OutcomeKind; `error` is empty on success."""

    kind: str
    error: str = ""
    exit_code: int | None = None
    signal: int | None = None
    final: bool = False


class EndedByUs(NamedTuple):
    """That the runner told the job to end, and why: the kind of outcome and its sentence."""

    kind: str
    error: str


CANCELLED = EndedByUs("cancelled", "was cancelled while it ran")
STOPPED = EndedByUs("lost", "was lost: the service ended while it ran, and what runs in its host process ends with it")


def timed_out(seconds: float) -> EndedByUs:
    return EndedByUs("timeout", f"ran longer than its time limit of {seconds:g} s and was ended")


def verdict(status: int, by_us: EndedByUs | None) -> Verdict:
    """`status` as wait() gave it; `by_us`: None if the job's end was its own."""
    code = os.waitstatus_to_exitcode(status)
    exit_code, number = (code, None) if code >= 0 else (None, -code)
    if by_us:
        return Verdict(by_us.kind, by_us.error, exit_code, number)
    if number is not None:
        return Verdict("failed", f"killed by signal {number} ({signal_name(number)}){hint(number)}", None, number)
    if exit_code:
        return Verdict("failed", f"exited with code {exit_code}", exit_code)
    return Verdict("success", "", exit_code)


def in_own_words(found: Verdict, rundir: RunDir) -> Verdict:
    """Of a callable: what it raised, rather than the exit code that came of it."""
    try:
        said = rundir.read_json(f"{WORK}/{ERROR_FILE}")
    except (OSError, BrokenFileError):
        return found
    if not said or found.kind != "failed" or not isinstance(said.get("error"), str):
        return found
    return found._replace(error=said["error"], final=said.get("final") is True)


def hint(number: int) -> str:
    if number == signal.SIGKILL:
        return ", not by Rota: by another process, or by the kernel because memory ran out"
    return ": a file that it wrote became larger than it may be" if number == signal.SIGXFSZ else ""


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "a real-time signal"
