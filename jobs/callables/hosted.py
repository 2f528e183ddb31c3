"""One attempt in a host: its claim, what it prints, how far it is, how it ended. Any thread may call."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jobs.callables.answers import Answer
from jobs.callables.context import Cancelled, Context
from jobs.callables.errors import JobCancelled
from jobs.callables.given import output_in, parameters_in, upstreams_in
from jobs.execution import claim, moment, outputs
from jobs.execution.diskuse import DiskUse
from jobs.execution.logwriter import STDERR, STDOUT, LogWriter
from jobs.execution.markers import WRITE_SECONDS, Markers, Progress
from jobs.execution.mask import Mask
from jobs.execution.rundir import CANCEL, RESULT, STARTED, BrokenFileError, RunDir
from jobs.execution.spec import Result, Spec
from jobs.execution.tree import process
from jobs.execution.verdict import EndedByUs

MOST_OPEN_BYTES = 8192  # of a line that has no end yet
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
LOOK_SECONDS = 1.0  # at what it has put into its folder
WAITING, RUNNING, ENDED = "waiting", "running", "ended"


def ticks_now() -> int:
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS_A_SECOND)


class Hosted:
    """Made by `take`. `cancelled` is set when it is asked to end. `ending`: why it was, if it was. `ticks`: when it was
    begun, as /proc tells that of processes. `later`: the host's way to have something called in so many seconds.
    `end_early`: its way to end this one.
    """

    def __init__(self, rundir: RunDir, spec: Spec, claim_fd: int) -> None:
        self.spec = spec
        self.cancelled = Cancelled()
        self.ending: EndedByUs | None = None
        self.abandoned = False
        self.may_have_children = True
        self.descendants_ended = 0
        self.redirected: dict[int, Any] = {}
        self.started_at: float | None = None
        self.started = 0.0  # monotonic
        self.ticks = 0
        self._kill_at: float | None = None
        self._rundir = rundir
        self._claim = claim_fd
        self._lock = threading.RLock()
        self._state = WAITING
        self._log = LogWriter(rundir, spec.log_cap_bytes)
        self._markers = Markers(rundir, self._log.notice)
        self._open = {STDOUT: b"", STDERR: b""}
        self._closed = False
        self._told_late = False
        self._disk_use = DiskUse(rundir, spec.output_cap_bytes, 0, self.notice)
        self.later: Callable[[float, Callable[[], None]], None] = lambda _seconds, _action: None
        self.end_early: Callable[[EndedByUs], None] = lambda _why: None

    @property
    def token(self) -> str:
        return self.spec.token

    def parameters(self) -> dict[str, Any]:
        """The values of this run, complete. OSError or ValueError if they cannot be read."""
        return parameters_in(self._rundir)

    def context(self, parameters: dict[str, Any]) -> Context:
        spec = self.spec
        given = upstreams_in(self._rundir)
        return Context(
            spec.instance_id,
            spec.attempt,
            parameters,
            self.cancelled,
            self.progress,
            self.output,
            upstream_results=given,
        )

    # --- its course ---

    def why_not(self) -> Answer | None:
        """Why it is not to be started, if it is not."""
        if self._rundir.has(CANCEL):
            return Answer("cancelled", "was cancelled before it was started")
        before = self.spec.start_before
        late = max(0.0, moment.now().seconds_since(before)) if before else 0.0
        return Answer("lost", f"was not started: its host came {late:.1f} s too late for that") if late else None

    def begin(self) -> bool:
        """Its first line is next. False if it must not run any more."""
        with self._lock:
            if self._state is not WAITING:
                return False
            self._state = RUNNING
            self.started_at, self.started = time.time(), time.monotonic()
            self.ticks = ticks_now()
            return True

    def ask_to_end(self, why: EndedByUs, grace_seconds: float | None = None) -> bool:
        """False if it does not run, or was asked before. grace_seconds: if they are not those of its job."""
        with self._lock:
            if self._state is not RUNNING or self.ending is not None:
                return False
            self.ending = why
            grace = self.spec.kill_grace_seconds if grace_seconds is None else grace_seconds
            self._kill_at = time.monotonic() + grace
        self.cancelled.cancel()
        return True

    @property
    def grace_left(self) -> float:
        """Seconds that its processes have from now on to end."""
        kill_at = self._kill_at
        return self.spec.kill_grace_seconds if kill_at is None else max(0.0, kill_at - time.monotonic())

    @property
    def starts_no_more(self) -> bool:
        """Whether it may start no process any more: it has returned, or its thread goes on although it should not."""
        return self._state is ENDED or (self._kill_at is not None and self.grace_left == 0.0)

    def finish(self) -> None:
        """It has returned: what it was asked before counts, what it is asked from now on does not."""
        with self._lock:
            self._state = ENDED

    def withdraw(self) -> bool:
        """If it has not begun, it will not."""
        with self._lock:
            if self._state is not WAITING:
                return False
            self._state = ENDED
            return True

    def hand_back(self) -> None:
        """After `withdraw`: say in its claim that it never ran, so that another host may have it."""
        os.ftruncate(self._claim, claim.RECOVERY)
        self.close()

    # --- what it says ---

    def print(self, stream: int, data: bytes) -> bool:
        """Line by line, as it comes. False if its log is closed: somebody prints who has outlived it."""
        with self._lock:
            if self._closed:
                return False
            data = self._open[stream] + data
            cut = len(data) if len(data) > MOST_OPEN_BYTES else data.rfind(b"\n") + 1
            self._open[stream] = data[cut:]
            self.take(stream, data[:cut])
            return True

    def flush(self, stream: int) -> None:
        with self._lock:
            data, self._open[stream] = self._open[stream], b""
            if not self._closed:
                self.take(stream, data)

    def take(self, stream: int, data: bytes) -> None:
        if data:
            self._log.write(stream, data)
            if stream == STDOUT:
                self._markers.feed(data)

    def notice(self, sentence: str) -> None:
        with self._lock:
            if not self._closed:
                for stream in self._open:
                    self.flush(stream)
                self._log.notice(sentence)

    def progress(self, done: float, text: str) -> None:
        with self._lock:
            if self._closed:
                return
            self._markers.tell(Progress(done, text))
            if self._markers.has_more and not self._told_late:
                self._told_late = True
                self.later(WRITE_SECONDS, self._write_progress)

    def _write_progress(self) -> None:
        """What was told just after the last time it was written."""
        with self._lock:
            self._told_late = False
            if not self._closed:
                self._markers.write()

    def output(self) -> Path:
        """The folder of what is kept, made now."""
        with self._lock:
            if self._closed:
                raise JobCancelled("no file is kept any more: the attempt is over")
            self.watch_output()
            return output_in(self._rundir)

    def watch_output(self) -> None:
        """It may write into its folder from now on: end it before it fills the disk."""
        self.later(LOOK_SECONDS, self._look_at_output)

    def _look_at_output(self) -> None:
        with self._lock:
            passed = None if self._state is ENDED else self._disk_use.look(time.monotonic())
        if passed:
            self.notice(passed.why)
            self.end_early(EndedByUs(passed.kind, passed.error))
        elif self._state is not ENDED:
            self.watch_output()

    def tell_started(self, pid: int) -> None:
        """For a recovery; the disk may refuse it."""
        own = process(pid)
        facts = {"pid": pid, "at": self.started_at, "ticks": own.started if own else 0,
                 "boot_id": moment.boot_id(), "start": "", "note": ""}  # fmt: skip
        try:
            self._rundir.write_json(STARTED, facts)
        except OSError as error:
            self.notice(f"{STARTED} could not be written: {error.strerror}")

    # --- its end ---

    def end(self, answer: Answer, **facts: Any) -> Result:
        """How it ended, also durable in its directory; nothing of it is written any more."""
        with self._lock:
            self._state = ENDED
            for stream in self._open:
                self.flush(stream)
            self.take(STDERR, answer.output.encode())
            for sentence in filter(None, (answer.notice, answer.error if self.started_at is None else "")):
                self._log.notice(sentence)
            self._markers.end()
            self._close_log()
        result = self._record(answer, **facts)
        self.close()
        return result

    def abandon(self, answer: Answer) -> Result:
        """It counts as ended, and goes on: what it prints is still taken."""
        self.notice(f"{answer.error}; its thread cannot be ended and runs on, and what it holds is not free until then")
        return self._record(answer)

    def release(self) -> None:
        """The thread of an abandoned one has ended."""
        with self._lock:
            for stream in self._open:
                self.flush(stream)
            self._close_log()
        self.close()

    def _close_log(self) -> None:
        outputs.settle(self._rundir, self.spec.output_cap_bytes, self._log.notice, Mask(()))
        self._log.close()
        self._closed = True

    def _record(self, answer: Answer, **facts: Any) -> Result:
        log = {"bytes": self._log.end, "lost_bytes": self._log.lost_bytes, "error": self._log.error}
        ran = self.started_at is not None
        result = Result(
            self.token,
            answer.kind,
            time.time(),
            answer.error,
            exit_code=answer.exit_code,
            started_at=self.started_at,
            duration_seconds=time.monotonic() - self.started if ran else None,
            value=(answer.value or self._markers.result) if answer.kind == "success" else self._markers.result,
            final=answer.final,
            log=log,
            descendants_ended=self.descendants_ended,
            **facts,
        )
        try:
            self._rundir.write_json(RESULT, result.to_json(), durable=True)
        except (OSError, BrokenFileError) as error:  # the service is told in any case
            print(f"{self._rundir.path}: no result written: {error}")  # noqa: T201 the host's log
        return result

    def close(self) -> None:
        """Only after the result is durable: who gets the lock from here on believes what lies there."""
        self._closed = True
        self._log.let_go()
        os.close(self._claim)
        self._rundir.close()
