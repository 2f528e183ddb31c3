"""The life of one attempt in its runner: start the job, take its output, hold it to its limits, end all of it.

Standard library only; what it imports, the launcher has imported before the fork.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import time
from collections.abc import Sequence

from jobs.execution import inuse, moment, outputs, secretfiles
from jobs.execution.beginning import Beginning, NotBegunError, end
from jobs.execution.cleanup import CleanUp, clean_up
from jobs.execution.confinement import Confinement, Passed
from jobs.execution.diskuse import DiskUse
from jobs.execution.ending import LINGER_MOST_SECONDS, LINGER_SECONDS, Ending, any_runs, processes
from jobs.execution.hearing import HEARD, Hearing
from jobs.execution.limits import Limits, be_nice, hand_over, limits_of
from jobs.execution.logwriter import LogWriter
from jobs.execution.markers import Markers
from jobs.execution.mask import Mask
from jobs.execution.own import Own
from jobs.execution.program import OtherFormError, Program, StartError, program_of
from jobs.execution.pump import Pump
from jobs.execution.rundir import CANCEL, OUTPUT, STARTED, WORK, RunDir, variables_of
from jobs.execution.samples import SampleFile
from jobs.execution.secrets import GivenSecret
from jobs.execution.spawn import (
    PR_SET_CHILD_SUBREAPER,
    Surroundings,
    fork_to_exec,
    pin,
    prctl,
    start_job,
)
from jobs.execution.spec import Result, Spec
from jobs.execution.tree import process
from jobs.execution.usage import Usage, uses_below
from jobs.execution.verdict import CANCELLED, EndedByUs, in_own_words, timed_out, verdict
from jobs.execution.warm import let_go, warm_fork

TOGETHER_SECONDS = 0.125  # that a look at the tree is early, to be one with another


class Attempt:
    def __init__(
        self, rundir: RunDir, spec: Spec, notes: int, begun: Own, secrets: Sequence[GivenSecret], mask: Mask
    ) -> None:
        """`notes`: a socket to the service, which is told there when the job has started, and says there that it is to
        be cancelled. `begun`: see own.py. `mask`: of the secrets.
        """
        self.rundir = rundir
        self.spec = spec
        self.begun = begun
        self.secrets = secrets
        self.mask = mask
        self.selector = selectors.DefaultSelector()
        self.hearing = Hearing(notes, self.selector)
        rundir.make_dir(WORK)
        rundir.make_dir(OUTPUT)
        self.log = LogWriter(rundir, spec.log_cap_bytes, mask)
        self.markers = Markers(rundir, self.log.notice, mask)
        self.pump = Pump(self.log, self.selector, self.markers.feed)
        self.job = 0
        self.start_method = self.start_note = self.form = ""
        self.started_at: float | None = None
        self.status: int | None = None
        self.ended_by_us: EndedByUs | None = None
        self.confinement = Confinement(spec, self.log.notice)
        self.disk_use = DiskUse(rundir, spec.output_cap_bytes, spec.min_free_disk_bytes, self.log.notice)
        self.ending: Ending | None = None

    def run(self) -> Result:
        """Run the job to its end and that of all its processes."""
        if self.rundir.has(CANCEL):
            return self.not_started("cancelled", "was cancelled before it was started")
        if late := self.seconds_late():
            return self.not_started("lost", f"was not started: its runner came {late:.1f} s too late for that")
        for line in self.spec.preface:
            self.log.notice(line)
        try:
            self.start()
        except StartError as error:
            return self.not_started("rejected", str(error))
        except NotBegunError as error:
            ending = Ending(error.pid, 0.0, time.monotonic(), self.confinement.kill)
            return self.not_started(error.kind, f"{error}{end(ending, self.hearing)}")
        while self.reap() and not (self.ending and self.ending.given_up):
            self.wait()
            self.on_time(time.monotonic())
        return self.ended()

    # --- Start ---

    def seconds_late(self) -> float:
        before = self.spec.start_before
        return max(0.0, moment.now().seconds_since(before)) if before else 0.0

    def start(self) -> None:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        spec = self.spec
        if spec.environment:
            inuse.hold(spec.environment)
        beginning = Beginning(self.hearing, spec.timeout_seconds, self.log.notice)
        program = program_of(spec, self.rundir.path)
        if spec.cores:
            pin(spec.cores)
        if spec.nice:
            be_nice(spec.nice)
        for notice in spec.notices:
            self.log.notice(notice)
        told = variables_of(self.rundir.path)
        directory = spec.working_directory or told["ROTA_WORKSPACE"]
        pump, limits = self.pump, self.limits()
        values = {one.variable: one.value for one in self.secrets if not one.as_file}
        files = secretfiles.give(self.secrets, self.rundir.path, limits.user)
        env = {**spec.env, **values, **files, **told}
        if limits.user:
            env = limits.user.environment(env)
        oom_score = self.begun.oom_score_adj
        self.around = Surroundings(env, directory, spec.umask, oom_score, pump.stdout, pump.stderr, limits)
        try:
            why = self.fork(program, beginning)
        except OtherFormError as other:
            program = program_of(spec, self.rundir.path, other.form)
            why = self.fork(program, beginning)
        self.form = program.form
        self.started_at, self.started = time.time(), time.monotonic()
        self.start_method = "cold" if why else "warm"
        self.start_note = why if spec.start == "warm" or (spec.start == "auto" and program.checked) else ""
        self.pump.close_writers()
        self.end_at = self.started + spec.timeout_seconds if spec.timeout_seconds else float("inf")
        self.usage = Usage(self.started, SampleFile(self.rundir))
        self.confinement.begin()
        self.tell_started()
        if beginning.cancelled:
            self.cancel()

    def fork(self, program: Program, beginning: Beginning) -> str:
        """Why the job has begun cold; "" if it is warm. What only a warm start needs must not cost a job its start."""
        why, fork = warm_fork(self.spec, program, self.around.env)
        if not why:
            try:
                self.job = start_job(program, self.around, fork, beginning)
            except StartError as error:
                why = f"its warm start failed: {error.file}: {error.reason}"
            else:
                return ""
        self.job = start_job(program, self.around, fork_to_exec, beginning)
        return why

    def limits(self) -> Limits:
        limits = limits_of(self.spec, self.confinement.before_start())
        if limits.user:
            hand_over(self.rundir.path, limits.user)
        return limits

    def tell_started(self) -> None:
        job = process(self.job)
        facts = {"pid": self.job, "at": self.started_at, "ticks": job.started if job else 0,
                 "boot_id": moment.boot_id(), "start": self.start_method, "note": self.start_note,
                 "form": self.form}  # fmt: skip
        content = json.dumps(facts).encode()
        try:
            self.rundir.write(STARTED, content)
        except OSError as error:
            self.log.notice(f"{STARTED} could not be written: {error.strerror}")
        self.hearing.tell(content)  # a later service reads the file

    # --- While it runs ---

    def wait(self) -> None:
        seconds = max(0.0, self.next_moment() - time.monotonic())
        for key, _ in self.selector.select(seconds):
            if self.selector.get_map().get(key.fd) is not key:  # closed by what was heard at the same time
                continue
            if key.data == HEARD:
                if self.hearing.cancel_comes(key.fd):
                    self.cancel()
            elif self.pump.pump(key.fd, key.data) and self.status is not None:
                self.linger()

    def next_moment(self) -> float:
        last = self.ending.next_at if self.ending else self.end_at
        return min(last, self.usage.next_at, self.confinement.next_at)

    def on_time(self, now: float) -> None:
        if now >= min(self.usage.next_at, self.confinement.next_at):
            self.look(now)
        if self.ending:
            if now >= self.ending.next_at and (count := self.ending.step(now)):
                self.log.notice(f"KILL sent to {processes(count)} that did not end")
        elif now >= self.end_at and self.reap():
            self.on_end_at(now)

    def on_end_at(self, now: float) -> None:
        if self.status is None:
            limit = self.spec.timeout_seconds or 0.0
            self.end(timed_out(limit), f"time limit of {limit:g} s reached")
        elif now < self.job_ended + LINGER_MOST_SECONDS and (now < self.end_at or any_runs()):
            self.linger()
        else:
            self.end(self.ended_by_us, "the job has ended and left processes")

    def linger(self) -> None:
        """What is left may go on while it prints or computes: the filter of `exec > >(tee log)` is a moment behind."""
        self.end_at = min(time.monotonic() + LINGER_SECONDS, self.job_ended + LINGER_MOST_SECONDS)

    def look(self, now: float) -> None:
        """One walk over the tree for all that is due or soon will be."""
        uses, soon = uses_below(os.getpid()), now + TOGETHER_SECONDS
        passed = []
        if self.usage.next_at <= soon:
            self.usage.sample(uses, now)
            self.markers.look()
            passed.append(self.disk_use.look(now))
        if self.confinement.next_at <= soon:
            passed.append(self.confinement.look(uses, now, self.usage.peak_bytes()))
        for one in filter(None, passed):
            self.on_passed(one, now)

    def on_passed(self, passed: Passed, now: float) -> None:
        """No grace: what it takes meanwhile, others lack."""
        if self.ending:
            self.ending.hasten(now)
        elif self.reap():  # what the job has left and may go on for a moment is held to its limits, too
            by_us = EndedByUs(passed.kind, passed.error) if self.status is None else self.ended_by_us
            self.end(by_us, passed.why, grace_seconds=0.0)

    def cancel(self) -> None:
        if not self.reap() or self.ending:
            return
        if self.status is None:
            self.end(CANCELLED, "cancelled")
        else:  # what is left may go on no longer; the outcome is there already
            self.end(self.ended_by_us, "cancelled after the job has ended")

    def reap(self) -> bool:
        """Collect what has ended. False once nothing is left: no child of a subreaper means no descendant."""
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid:
                self.usage.add(used)
            if pid == self.job:
                self.status, self.job_ended_at, self.job_ended = status, time.time(), time.monotonic()
                self.ended_by_us = self.ended_by_us or self.out_of_memory()
                self.linger()
            elif pid == 0:
                return True

    def end(self, by_us: EndedByUs | None, why: str, grace_seconds: float | None = None) -> None:
        self.ended_by_us = by_us
        self.pump.take_waiting()  # printed before this, so it is told before it
        grace = self.spec.kill_grace_seconds if grace_seconds is None else grace_seconds
        self.ending = Ending(self.job, grace, time.monotonic(), self.confinement.kill)
        if count := self.ending.begin():
            self.log.notice(f"{why}: TERM sent to {processes(count)}, KILL follows in {grace:g} s")
        elif self.status is None:
            self.log.notice(f"{why}: it has just ended")

    # --- End ---

    def ended(self) -> Result:
        self.pump.drain()
        self.markers.end()
        ended = self.ending
        if self.status is None:  # given up on processes that are not ours to end, the job's own among them
            self.status, self.job_ended_at, self.job_ended = signal.SIGKILL, time.time(), time.monotonic()
        found = verdict(self.status, self.ended_by_us)
        if self.spec.kind == "callable":
            found = in_own_words(found, self.rundir)
        left = ended.left if ended else ""
        spec = self.spec
        cleanup = CleanUp(spec.cleanup_command, spec.cleanup_after, spec.cleanup_timeout_seconds)
        clean_up(cleanup, found, self.around, self.log)
        outputs.settle(self.rundir, spec.output_cap_bytes, self.log.notice, self.mask)
        return self.result(
            found.kind,
            found.error + left,
            exit_code=found.exit_code,
            signal=found.signal,
            started_at=self.started_at,
            ended_at=self.job_ended_at,
            duration_seconds=self.job_ended - self.started,
            cpu_seconds=self.usage.cpu_seconds,
            peak_memory_bytes=self.usage.peak_bytes(),
            descendants_ended=ended.descendants_ended if ended else 0,
            value=self.markers.result,
            final=found.final,
        )

    def out_of_memory(self) -> EndedByUs | None:
        """The kernel has ended some of it, and the job has ended before that was seen."""
        passed = self.confinement.out_of_memory(self.usage.peak_bytes())
        if passed is None:
            return None
        self.log.notice(f"{passed.why}: the kernel ended it")
        return EndedByUs(passed.kind, passed.error)

    def close(self) -> None:
        """Give up what is left of it, but descriptors that are mere numbers."""
        self.hearing.end()
        self.selector.close()
        let_go()

    def not_started(self, kind: str, error: str) -> Result:
        self.log.notice(error)
        return self.result(kind, error, ended_at=time.time())

    def result(self, kind: str, error: str, **facts: object) -> Result:
        self.log.close()
        log = {"bytes": self.log.end, "lost_bytes": self.log.lost_bytes, "error": self.log.error}
        start = {"start_method": self.start_method, "start_note": self.start_note}
        return Result(token=self.spec.token, kind=kind, error=self.mask.text(error), log=log, **start, **facts)  # type: ignore[arg-type]  # facts differ in type
