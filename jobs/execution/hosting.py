"""The service's end of the hosts, in which callables run that have no runner. Belongs to the executor's loop.

A host is started when it is first needed, ended when it has been idle for some minutes, and retired when something in
it keeps it from answering: what starts from then on starts in a fresh one. What a host does not do in time is done from
here: it is killed. docs/callables.md says what becomes of the attempts in it.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from jobs.core.states import OutcomeKind
from jobs.execution.hostprocess import HostGoneError, HostProcess
from jobs.execution.hostseats import Host, Seat
from jobs.execution.launch import Abandoned, AttemptRef, Ended, Launch, NotStarted, Report, Started
from jobs.execution.line import Answers, Wanted
from jobs.execution.loop import Loop
from jobs.execution.settle import NEVER_RAN, Holder, not_started, outcome_of, settle, utc
from jobs.execution.spec import Result
from jobs.execution.watcher import Watcher

logger = logging.getLogger(__name__)

PROGRAMS = {"async": "jobs.callables.host", "thread": "jobs.callables.host", "pooled": "jobs.callables.pool"}
IDLE_SECONDS = 300.0
STOP_SECONDS = 4.0  # for all hosts to end with the service: they take half of it for what ends when it is asked to


class Hosts:
    def __init__(
        self,
        loop: Loop,
        watcher: Watcher,
        report: Callable[[Report], None],
        start_host: Callable[[str], HostProcess],
    ) -> None:
        """start_host: by the name of its program; OSError if it cannot be started."""
        self._loop = loop
        self._watcher = watcher
        self._report = report
        self._start_host = start_host
        self._open: dict[str, Host] = {}  # by program, the one that takes new attempts
        self._alive: list[Host] = []
        self._ticks = False
        self._stopping = False
        self._none_left = threading.Event()
        self.answers: Answers

    def add(self, wanted: Wanted) -> None:
        """Start it in a host. `answers` are told what cannot be."""
        if self._stopping:
            return  # the next start of the service finds that it never ran
        try:
            host = self._host_for(wanted.launch)
        except OSError as error:
            self.answers.no_launcher(wanted, f"no host process: {error}")
            return
        host.take(wanted)
        self._tick_on()

    def cancel(self, ref: AttemptRef) -> bool:
        """Whether it is in a host, which is told then."""
        for host in self._alive:
            if seat := host.seats.get(ref.token):
                host.cancel(seat)
                return True
        return False

    def nudge(self) -> None:
        """To be called now and then: ends what has been idle for long."""
        for host in self._alive:
            host.process.signal(signal.SIGCONT)
            if host.idle_seconds > IDLE_SECONDS:
                self._retire(host)

    def end(self) -> None:
        """From another thread: have all end, with what runs in them, and wait for that some seconds."""
        self._loop.post(self._stop)
        self._none_left.wait(2 * STOP_SECONDS)

    def _stop(self) -> None:
        self._stopping = True
        for host in self._alive:
            host.stop(STOP_SECONDS)
        self._tick_on()
        self._note_if_none_left()

    def _note_if_none_left(self) -> None:
        if self._stopping and not self._alive:
            self._none_left.set()

    # --- one host ---

    def _host_for(self, launch: Launch) -> Host:
        program = PROGRAMS[launch.hosted]
        if program not in self._open:
            host = Host(program, self._start_host(program))
            self._open[program] = host
            self._alive.append(host)
            self._loop.on_readable(host.process.socket.fileno(), partial(self._on_readable, host))
            self._loop.on_readable(host.process.pidfd, partial(self._on_gone, host))
        return self._open[program]

    def _retire(self, host: Host) -> None:
        """It gets nothing new, and ends when what it has has ended."""
        if self._open.get(host.program) is host:
            del self._open[host.program]
        if not host.seats:
            host.leave()
        self._tick_on()

    def _on_readable(self, host: Host) -> None:
        try:
            while (message := host.process.receive()) is not None:
                self._take(host, message)
        except HostGoneError:
            self._loop.no_longer(host.process.socket.fileno())
            host.hung_up = True
        host.process.flush()

    def _take(self, host: Host, message: dict[str, Any]) -> None:
        host.heard()
        match message:
            case {"began": token, "pid": pid, "at": at} if seat := host.seats.get(token):
                seat.note_began()
                self._report(Started(seat.ref, pid, utc(at)))
            case {"ended": token, "result": result} if seat := host.seats.pop(token, None):
                self._ended(seat, result)
            case {"abandoned": token, "result": result} if seat := host.seats.get(token):
                seat.outcome = outcome_of(Result.from_json(result))
                self._report(Abandoned(seat.ref, seat.outcome))
            case {"released": token} if (seat := host.seats.pop(token, None)) and seat.outcome:
                self._report(Ended(seat.ref, seat.outcome))
            case {"returned": token} if seat := host.seats.pop(token, None):
                self._again(seat, "its host was not able to begin it")
            case {"blocked": sentence}:
                logger.warning("%s", sentence)
                self._retire(host)
        if not host.seats and self._open.get(host.program) is not host:
            host.leave()

    def _ended(self, seat: Seat, result: dict[str, Any]) -> None:
        try:
            self._watcher.ended(seat.ref, Result.from_json(result))
        except (ValueError, TypeError, OverflowError):  # a pooled one has written what is its worker's to say
            self._watcher.settle(seat.ref)

    def _again(self, seat: Seat, reason: str) -> None:
        if seat.cancelled:
            never = not_started(OutcomeKind.CANCELLED, "was cancelled before it was started")
            self._report(NotStarted(seat.ref, never))
        elif not self._stopping:
            self.answers.unsure(seat.wanted, reason)

    # --- time ---

    def _tick_on(self) -> None:
        if not self._ticks:
            self._ticks = True
            self._loop.later(self._tick)

    def _tick(self) -> None:
        """While anything is in a host, or a host is about to end: what should have happened by now?"""
        self._ticks = False
        now = time.monotonic()
        for host in list(self._alive):
            host.process.flush()
            if host.overdue(now):
                host.process.kill()
            elif host.is_silent(now) and not host.given_up:
                self._give_up_on(host)
        if any(host.seats or self._open.get(host.program) is not host for host in self._alive):
            self._tick_on()

    def _give_up_on(self, host: Host) -> None:
        """It does not even take what it is given. What it has not claimed is taken from it, what it has may run."""
        host.given_up = True
        logger.warning("%s does not answer; where it stands is in logs/callables.log", host)
        host.process.signal(signal.SIGUSR2)
        self._retire(host)
        for seat in [seat for seat in host.seats.values() if not seat.began]:
            with self._watcher.settling:
                settled = settle(str(seat.wanted.path))
            if isinstance(settled, Holder):
                settled.close()
                seat.note_began()
            elif settled is NEVER_RAN:
                del host.seats[seat.ref.token]
                self._again(seat, "its host did not answer")

    # --- its end ---

    def _on_gone(self, host: Host) -> None:
        if not host.hung_up:
            self._on_readable(host)  # what it said last
        if not host.hung_up:
            self._loop.no_longer(host.process.socket.fileno())
        self._loop.no_longer(host.process.pidfd)
        if self._open.get(host.program) is host:
            del self._open[host.program]
        host.how = host.process.how_it_ended()
        if host.seats or host.how != "exited with code 0":
            logger.warning("%s %s", host, host.how)
        self._loop.insist(partial(self._watcher.sweep_all, host.process.left, partial(self._conclude, host)))

    def _conclude(self, host: Host) -> None:
        """Nothing of it is alive."""
        while host.seats:
            _, seat = host.seats.popitem()
            self._loop.insist(partial(self._settle, host, seat))
        host.process.close()
        self._alive.remove(host)
        self._note_if_none_left()

    def _settle(self, host: Host, seat: Seat) -> None:
        if seat.outcome:
            self._report(Ended(seat.ref, seat.outcome))
            return
        with self._watcher.settling:
            settled = settle(str(seat.wanted.path))
        if isinstance(settled, Result):
            self._watcher.ended(seat.ref, settled)
        elif settled is NEVER_RAN:
            self._again(seat, f"its host process {host.how}; logs/callables.log in the data folder may say why")
        else:
            self._report(Ended(seat.ref, host.outcome_of(seat)))
