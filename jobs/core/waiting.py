"""What does not run: due later, waiting for upstreams, or in the queue; and what ends while it waits."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from jobs.core.dates import Dates, Verdict
from jobs.core.decisions import Dismiss, Queue
from jobs.core.graph import Graph
from jobs.core.known import KnownInstances, Line
from jobs.core.limits import Limits
from jobs.core.places import Places
from jobs.core.ready import Needs, ReadySet
from jobs.core.records import Blame, Instance
from jobs.core.states import Status
from jobs.core.timetable import Timetable


class Waiting:
    """Puts every waiting instance where it belongs, and says what becomes of it when its moment or its upstreams come.

    What it decides is done in `known` at once, as if it were committed.
    """

    def __init__(self, known: KnownInstances, graph: Graph, limits: Limits, places: Places) -> None:
        self.ready = ReadySet()
        self._known = known
        self._graph = graph
        self._limits = limits
        self._places = places
        self._dates = Dates(graph)
        self._due: Timetable[int] = Timetable()
        self._late_at: Timetable[int] = Timetable()
        self._needs: dict[Line, Needs] = {}
        self._to_judge: dict[int, None] = {}
        self._impossible: dict[int, None] = {}

    def next_moment(self) -> datetime | None:
        moments = (self._due.next_moment(), self._late_at.next_moment())
        return min(filter(None, moments), default=None)

    # --- coming and going ---

    def put(self, instance: Instance) -> None:
        """An instance that waits, as it is now."""
        match instance.status:
            case Status.PENDING:
                if self._graph.upstreams(instance.job_id):
                    self._dates.wait(instance)
                self._due.set(instance.id, instance.due_at)
            case Status.RETRYING if instance.retry_at is not None:
                self._due.set(instance.id, instance.retry_at)
            case Status.QUEUED:
                self._make_ready(instance)
        self._places.seen(instance)
        self._watch_start(instance)

    def forget(self, instance: Instance) -> None:
        """It waits no more, or is not this engine's business."""
        self._due.cancel(instance.id)
        self._late_at.cancel(instance.id)
        self._dates.forget(instance)
        self.ready.discard(instance.id)
        self._impossible.pop(instance.id, None)

    def started(self, instance_id: int) -> None:
        self._late_at.cancel(instance_id)

    def put_again(self, instances: Iterable[Instance]) -> None:
        """What they need may have changed, or their job was paused or resumed."""
        for instance in instances:
            if self._known.job(instance.job_id).paused:
                self.ready.discard(instance.id)
            else:
                self._make_ready(instance)

    def deadline_changed(self, job_id: int) -> None:
        """By when its instances must have started may be another moment now, or none."""
        for instance in self._known.waiting_of(job_id):
            self._watch_start(instance)

    # --- upstreams ---

    def noted(self, instance: Instance) -> None:
        """How an instance stands now: what waits for it is judged when all that is told at once has been taken in."""
        if instance.job_id in self._graph:
            self._to_judge |= dict.fromkeys(self._dates.note(instance, self._known.job(instance.job_id)))

    def edges_changed(self, job_id: int) -> None:
        """Its upstreams may be others now."""
        for instance in self._known.waiting_of(job_id):
            if instance.status is Status.PENDING and self._graph.upstreams(job_id):
                self._dates.wait(instance)
                self._to_judge[instance.id] = None
            elif instance.status is Status.PENDING:
                self._dates.forget(instance)
                self._due.set(instance.id, instance.due_at)

    def job_gone(self, job_id: int) -> None:
        """How its instances ended need not be remembered."""
        self._dates.drop_job(job_id)
        self.needs_changed(job_id)

    def judge(self) -> list[Dismiss]:
        """What waits for upstreams that have moved may run, or ends with them, all the way down."""
        decisions: list[Dismiss] = []
        while self._to_judge:
            instance_id = next(iter(self._to_judge))
            del self._to_judge[instance_id]
            instance = self._known.instances.get(instance_id)
            if instance is None or instance.status is not Status.PENDING:
                continue
            judgement = self._dates.judge(instance, self._known.job(instance.job_id).upstream_rule)
            if judgement.verdict is Verdict.RUN:
                self._due.set(instance.id, instance.due_at)
            elif judgement.verdict is Verdict.NOT_NEEDED:
                decisions.append(_not_needed(instance))
                self.dismiss(decisions[-1])
            elif judgement.blame is not None:
                decisions.append(_upstream_failed(instance, judgement.blame))
                self.dismiss(decisions[-1])
        return decisions

    # --- time ---

    def queue_due(self, now: datetime) -> list[Queue | Dismiss]:
        """Everything whose moment has come, and that waits for nothing else. What can never run ends instead."""
        decisions: list[Queue | Dismiss] = []
        for instance_id in self._due.take_due(now):
            instance = self._known.instances[instance_id]
            if self._waits_for_upstreams(instance):
                continue
            if self._cannot_run(instance):
                decisions.append(self._fail(instance))
                continue
            queued_at = instance.queued_at or now
            key = self._places.of(instance, now)
            decisions.append(Queue(instance.id, instance.job_id, instance.status, queued_at, key))
            self._dates.forget(instance)
            self._make_ready(self._known.move(instance.id, Status.QUEUED, queued_at=queued_at, order_key=key))
        return decisions

    def dismiss_late(self, now: datetime) -> list[Dismiss]:
        """What was not started by its deadline."""
        decisions: list[Dismiss] = []
        for instance_id in self._late_at.take_due(now):
            instance = self._known.instances[instance_id]
            job = self._known.job(instance.job_id)
            seconds = job.start_deadline_seconds or 0.0
            reason = f"was not started within {seconds:g} s after it was due"
            decision = Dismiss(instance.id, instance.job_id, instance.status, Status.SKIPPED, "start_deadline", reason)
            decisions.append(decision)
            self.dismiss(decision)
        return decisions

    def dismiss_impossible(self) -> list[Dismiss]:
        """What is queued of jobs that can never run."""
        if not self._impossible:
            return []
        queued = [self._known.instances[instance_id] for instance_id in self._impossible]
        return [self._fail(instance) for instance in queued if self._cannot_run(instance)]

    def _cannot_run(self, instance: Instance) -> bool:
        """What is paused may still be mended."""
        job = self._known.job(instance.job_id)
        return bool(job.cannot_run) and not job.paused

    def _fail(self, instance: Instance) -> Dismiss:
        reason = f"can never run: {self._known.job(instance.job_id).cannot_run}"
        decision = Dismiss(instance.id, instance.job_id, instance.status, Status.FAILED, "cannot_run", reason)
        self.dismiss(decision)
        return decision

    def dismiss(self, decision: Dismiss) -> None:
        """It ends as decided."""
        before = self._known.instances[decision.instance_id]
        self.forget(before)
        self._places.left(before)
        self.noted(self._known.move(before.id, decision.status, blame=decision.blame))

    def _waits_for_upstreams(self, instance: Instance) -> bool:
        if instance.status is not Status.PENDING or not self._graph.upstreams(instance.job_id):
            return False
        rule = self._known.job(instance.job_id).upstream_rule
        return self._dates.judge(instance, rule).verdict is not Verdict.RUN

    def _watch_start(self, instance: Instance) -> None:
        start_by = self._known.job(instance.job_id).start_by(instance.due_at)
        if start_by is None or instance.attempts > 0:
            self._late_at.cancel(instance.id)
        else:
            self._late_at.set(instance.id, start_by + datetime.resolution)

    # --- the queue ---

    def _make_ready(self, instance: Instance) -> None:
        """A paused job's instances keep their place but are not looked at."""
        job = self._known.job(instance.job_id)
        if instance.order_key is None:
            raise ValueError(
                f"instance {instance.id} is queued without a place in the order; the store never does that"
            )
        if job.cannot_run:
            self.ready.discard(instance.id)
            self._impossible[instance.id] = None
        elif not job.paused:
            self._impossible.pop(instance.id, None)
            self.ready.add(instance.id, instance.order_key, self.needs_of(instance))

    def needs_of(self, instance: Instance) -> Needs:
        """All that its start is decided by, beside its place."""
        line = instance.job_id, instance.serial
        needs = self._needs.get(line)
        if needs is None:
            job = self._known.job(instance.job_id)
            limits, rates = self._limits.that_bind(job.limits, job.rates)
            alone = job.id if instance.serial else None
            needs = self._needs[line] = Needs(job.demand, limits, rates, job.environment, alone)
        return needs

    def needs_changed(self, job_id: int | None = None) -> None:
        """Those of a job, or of all: whoever is queued has to be put again."""
        lines = list(self._needs) if job_id is None else [(job_id, True), (job_id, False)]
        for line in lines:
            self._needs.pop(line, None)


def _upstream_failed(instance: Instance, blame: Blame) -> Dismiss:
    reason = f"its upstream {blame.job_name!r} (instance {blame.instance_id}) ended as {blame.status}"
    return Dismiss(
        instance.id, instance.job_id, instance.status, Status.UPSTREAM_FAILED, "upstream_failed", reason, blame
    )


def _not_needed(instance: Instance) -> Dismiss:
    reason = "runs when an upstream has failed, and none has"
    return Dismiss(instance.id, instance.job_id, instance.status, Status.SKIPPED, "not_needed", reason)
