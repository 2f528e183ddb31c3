"""What a host has taken on, and until when it may take for it. Belongs to the executor's loop."""

from __future__ import annotations

import time
from dataclasses import dataclass

from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind
from jobs.execution.hostprocess import HostProcess
from jobs.execution.launch import AttemptRef
from jobs.execution.line import Wanted
from jobs.execution.settle import started_facts, written
from jobs.execution.spec import Result
from jobs.execution.verdict import CANCELLED, STOPPED, EndedByUs, timed_out

LOAD_SECONDS = 120.0  # for a project to be loaded
ANSWER_SECONDS = 5.0
MARGIN_SECONDS = 1.0  # after the grace: an answer takes a moment on a busy machine
LEAVE_SECONDS = 10.0
NEVER = float("inf")


@dataclass(slots=True)
class Seat:
    """An attempt in a host. Moments are monotonic seconds. `outcome`: with which it was abandoned, if it was."""

    wanted: Wanted
    began: bool = False
    cancelled: bool = False
    late_at: float = NEVER
    late: EndedByUs = CANCELLED
    outcome: Outcome | None = None

    @property
    def ref(self) -> AttemptRef:
        return self.wanted.launch.ref

    def note_began(self) -> None:
        self.began = True
        if seconds := self.wanted.launch.timeout_seconds:
            self.must_end_in(seconds, timed_out(seconds))

    def must_end_in(self, seconds: float, otherwise: EndedByUs) -> None:
        late_at = time.monotonic() + seconds + self.wanted.launch.kill_grace_seconds + MARGIN_SECONDS
        if late_at < self.late_at:
            self.late_at, self.late = late_at, otherwise


class Host:
    """A host process that has not been seen to end. `how`: it ended, once it has."""

    def __init__(self, program: str, process: HostProcess) -> None:
        self.program = program
        self.process = process
        self.seats: dict[str, Seat] = {}
        self.kill_at = NEVER
        self.how = ""
        self.hung_up = False
        self.given_up = False
        self._culprit: Seat | None = None
        self._heard_at = time.monotonic()
        self._answers = False
        self._left = False
        self._stopped = False

    def __str__(self) -> str:
        return f"the host process {self.process.pid} ({self.program.rpartition('.')[2]})"

    def take(self, wanted: Wanted) -> None:
        token = wanted.launch.token
        if not any(not seat.began for seat in self.seats.values()) and self._answers:
            self._heard_at = time.monotonic()  # it had nothing to answer to
        self.seats[token] = Seat(wanted)
        self.process.send(start=token, path=str(wanted.path))

    def cancel(self, seat: Seat) -> None:
        seat.cancelled = True
        self.process.send(cancel=seat.ref.token)
        seat.must_end_in(0.0, CANCELLED)

    def leave(self) -> None:
        """Nothing is in it, and nothing will be: have it end."""
        if not self._left:
            self._left = True
            self.process.send(stop=True)
            self.kill_at = min(self.kill_at, time.monotonic() + LEAVE_SECONDS)

    def heard(self) -> None:
        self._heard_at = time.monotonic()
        self._answers = True

    def stop(self, seconds: float) -> None:
        """The service ends, and it has so long to end with all that is in it."""
        self._stopped = True
        self.process.send(stop=True)
        self.kill_at = min(self.kill_at, time.monotonic() + seconds)

    @property
    def idle_seconds(self) -> float:
        return 0.0 if self.seats else time.monotonic() - self._heard_at

    def is_silent(self, now: float) -> bool:
        """Whether it has been given something that it should have said a word about by now."""
        if all(seat.began for seat in self.seats.values()):
            return False
        return now > self._heard_at + (ANSWER_SECONDS if self._answers else LOAD_SECONDS)

    def overdue(self, now: float) -> bool:
        """Whether it has to be killed, for what in it has not ended or for not having ended itself."""
        late = [seat for seat in self.seats.values() if now >= seat.late_at and seat.outcome is None]
        self._culprit = late[0] if late else None
        return bool(late) or now >= self.kill_at

    def outcome_of(self, seat: Seat) -> Outcome:
        """Of one that has begun in it, now that it is gone without a result."""
        path, now = str(seat.wanted.path), time.monotonic()
        if now >= seat.late_at:
            grace = seat.wanted.launch.kill_grace_seconds
            kind = seat.late.kind
            why = f"{seat.late.error}; its host process was killed, since it went on for its grace of {grace:g} s"
        elif self._stopped:
            kind, why = STOPPED
        else:
            kind, why = OutcomeKind.LOST, f"was lost: the host process that it ran in {self._why()}"
        at = started_facts(path).get("at")
        return written(path, Result(seat.ref.token, kind, time.time(), why, started_at=at))

    def _why(self) -> str:
        if self._culprit:
            ref = self._culprit.ref
            return f"was killed, because attempt {ref.attempt} of instance {ref.instance_id} in it would not end"
        return self.how
