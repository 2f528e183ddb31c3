"""Attempts that come to their end without a process, and with a log that says why."""

from __future__ import annotations

import os
import time
from pathlib import Path

from jobs.core.states import OutcomeKind
from jobs.execution.claim import claim_as_runner
from jobs.execution.launch import Launch
from jobs.execution.logwriter import LogWriter
from jobs.execution.rundir import RESULT, RunDir
from jobs.execution.spec import Result


def end_unstarted(path: Path, launch: Launch, kind: OutcomeKind, error: str) -> None:
    """Write the log and the result into the run directory, as its runner would. OSError if the disk does not let us."""
    with RunDir(str(path)) as rundir:
        claim = claim_as_runner(rundir)  # from now on it is one that ran: nobody starts it any more
        try:
            log = LogWriter(rundir, launch.log_cap_bytes)
            for line in (*launch.preface, error):
                log.notice(line)
            log.let_go()
            said = {"bytes": log.end, "lost_bytes": log.lost_bytes, "error": log.error}
            result = Result(launch.token, kind.value, time.time(), error, log=said)
            rundir.write_json(RESULT, result.to_json(), durable=True)
        finally:
            if claim is not None:
                os.close(claim)
