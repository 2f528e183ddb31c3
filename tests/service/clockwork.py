"""The service's loop on a real store, turned by hand, under clocks moved by hand; processes are entries of a dict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from django.conf import settings

from jobs import models
from jobs.core.inputs import Ended
from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind
from jobs.execution.environments import Environments
from jobs.execution.launch import AttemptRef, Launch, Recovery, RecoveryKind
from jobs.service.capacity import Capacity
from jobs.service.clock import Clocks
from jobs.service.loop import EngineLoop
from jobs.service.mailbox import Mailbox
from jobs.service.notices import Notices
from jobs.store import schedules
from jobs.store.specs import ScheduleSpec

START = datetime(2026, 1, 1, 10, 30, tzinfo=UTC)


@dataclass
class Hands:
    """Three clocks: time passes for all, sleep stops one, and setting moves the one on the wall."""

    wall: datetime = START
    boot: float = 1000.0
    awake: float = 500.0

    def pass_(self, seconds: float) -> None:
        self.awake += seconds
        self.suspend(seconds)

    def suspend(self, seconds: float) -> None:
        self.boot += seconds
        self.wall += timedelta(seconds=seconds)

    def set(self, by: timedelta) -> None:
        self.wall += by

    def clocks(self) -> Clocks:
        return Clocks(lambda: self.wall, lambda: self.boot, lambda: self.awake)


@dataclass
class Processes:
    """Stands in for the executor, and outlives the loop as runners do."""

    running: dict[str, Launch] = field(default_factory=dict)
    launched: list[Launch] = field(default_factory=list)
    ended: dict[str, Outcome] = field(default_factory=dict)

    def launch(self, launch: Launch) -> None:
        self.running[launch.token] = launch
        self.launched.append(launch)

    def recover(self, ref: AttemptRef) -> Recovery:
        if ref.token in self.ended:
            return Recovery(RecoveryKind.ENDED, self.ended[ref.token])
        return Recovery(RecoveryKind.ADOPTED if ref.token in self.running else RecoveryKind.NEVER_RAN)

    def ask(self, answered: Callable[[], None]) -> None:
        answered()

    def cancel(self, ref: AttemptRef) -> None: ...

    def forget(self, ref: AttemptRef) -> None: ...

    def nudge(self) -> None: ...

    def end_hosts(self) -> None: ...


class Clockwork:
    def __init__(self, cores: int = 2, wall: datetime = START, name: str = "here") -> None:
        self.hands = Hands(wall)
        self.processes = Processes()
        self.node = models.Node.objects.create(name=name)
        self.capacity = Capacity(tuple(range(cores)), 1.0, 0, ())
        self.turns = 0

    def job(self, type_: str = "", expression: str = "", zone: str = "UTC", **fields) -> models.Job:
        of_job = {name: fields.pop(name) for name in ("priority", "max_retries") if name in fields}
        job = models.Job.objects.create(
            name=f"job {models.Job.objects.count()}", body="true", created_at=self.hands.wall, **of_job
        )
        if type_:
            schedules.insert(job, ScheduleSpec(type_, expression, zone, **fields), self.hands.wall)
        return job

    def start(self, ended: dict[str, Outcome] | None = None) -> None:
        """The service starts, whether or not it has run before: all that it knows is what is stored.

        `ended`: what it finds to have ended meanwhile, by token.
        """
        self.processes.ended = ended or {}
        self.mailbox = Mailbox()
        environments = Environments(settings.DATA_DIR, timeout_seconds=60, most_mb=0, most_days=0)  # none is asked for
        self.loop = EngineLoop(
            self.node, self.capacity, self.processes, self.mailbox, Notices(), environments, load=dict,
            on_beat=lambda: None, clocks=self.hands.clocks(),
        )  # fmt: skip
        self.loop._rebuild()
        self.turn()

    def turn(self) -> None:
        self.mailbox.poke()
        self.loop._turn()
        self.turns += 1

    def beat(self) -> None:
        """A turn in which all is due that is done now and then."""
        self.loop._heartbeat.at_once()
        self.loop._ask_again.at_once()
        self.turn()

    @property
    def wake_at(self) -> datetime | None:
        return self.loop._wake_at

    @property
    def looks_at(self) -> datetime | None:
        """When it has something to do: what it waits for, or what comes into its sight then."""
        moments = (self.wake_at, self.loop._follower.horizon.reload_at)
        return min((moment for moment in moments if moment is not None), default=None)

    def end_all(self, kind: OutcomeKind = OutcomeKind.SUCCESS) -> None:
        """Until nothing runs, and nothing waits for what ran."""
        while self.processes.running:
            for token, launch in list(self.processes.running.items()):
                outcome = Outcome(kind, self.hands.wall, duration_seconds=1.0)
                self.mailbox.put(Ended(launch.instance_id, token, outcome))
                del self.processes.running[token]
            self.turn()

    def wait(self, seconds: float) -> None:
        self.hands.pass_(seconds)
        self.turn()

    def run_to(self, moment: datetime) -> None:
        """From one moment that the engine waits for to the next; what starts ends at once."""
        self.end_all()
        while (following := self.looks_at) is not None and following <= moment:
            assert following > self.hands.wall, "it would not sleep"
            self.wait((following - self.hands.wall).total_seconds())
            self.end_all()
        self.wait(max(0.0, (moment - self.hands.wall).total_seconds()))
        self.end_all()

    def dates(self, job: models.Job) -> list[datetime]:
        return list(models.Instance.objects.filter(job=job).order_by("pk").values_list("logical_at", flat=True))

    def schedule(self, job: models.Job) -> models.Schedule:
        return models.Schedule.objects.get(job=job)
