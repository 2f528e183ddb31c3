"""How an attempt ended, in a word and a sentence. Standard library only."""

from __future__ import annotations

import os
import signal
from typing import NamedTuple

CANCEL, TIMEOUT = "cancelled", "timeout"


class Verdict(NamedTuple):
    """`kind` is a value of OutcomeKind; `error` is empty on success."""

    kind: str
    error: str = ""
    exit_code: int | None = None
    signal: int | None = None


def verdict(status: int, ended_by_us: str, timeout_seconds: float | None) -> Verdict:
    """`status` as wait() gave it; `ended_by_us`: CANCEL, TIMEOUT or "" if the job's end was its own."""
    code = os.waitstatus_to_exitcode(status)
    exit_code, number = (code, None) if code >= 0 else (None, -code)
    if ended_by_us == TIMEOUT:
        return Verdict(TIMEOUT, f"ran longer than its time limit of {timeout_seconds:g} s and was ended",
                       exit_code, number)  # fmt: skip
    if ended_by_us == CANCEL:
        return Verdict(CANCEL, "was cancelled while it ran", exit_code, number)
    if number is not None:
        return Verdict("failed", f"killed by signal {number} ({signal_name(number)}){hint(number)}", None, number)
    if exit_code:
        return Verdict("failed", f"exited with code {exit_code}", exit_code)
    return Verdict("success", "", exit_code)


def hint(number: int) -> str:
    if number != signal.SIGKILL:
        return ""
    return ", not by Rota: by another process, or by the kernel because memory ran out"


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "a real-time signal"
