"""Why an instance waits, in one sentence with numbers, and when it is expected to start: made when somebody looks.

The sentence is computed from what runs and waits at that moment. Of what the engine stores, only for whom a node keeps
its cores is used, and that only while the rest agrees: it is as old as the engine's last pass.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from jobs import models
from jobs.core.records import Job
from jobs.core.states import WAITING, Status
from jobs.holds.environments import being_installed
from jobs.holds.limiting import held_back
from jobs.holds.nodes import nobody_runs, stopped, too_small
from jobs.holds.phrases import clock
from jobs.holds.rooms import SOON, in_its_place
from jobs.holds.scene import LOOKED_THROUGH, Scene, demand_of, look
from jobs.holds.upstreams import explain_upstreams
from jobs.holds.view import HoldView
from jobs.pauses import who_paused

__all__ = ["LOOKED_THROUGH", "HoldView", "explain"]

UNTIL_RESUMED = "it waits until the job is resumed"
UNTIL_UNDRAINED = "it waits until a node that can run it takes work again"
UNTIL_STARTED = "it waits until the scheduler is started"


def explain(instances: Iterable[models.Instance], now: datetime) -> dict[int, HoldView]:
    """A view for each of `instances` that waits, by id; give them with their job. A fixed number of queries."""
    waiting = [instance for instance in instances if instance.status in WAITING]
    due = {instance.pk for instance in waiting if _is_due(instance, now)}
    scene = look(now, due) if due else None
    views = {i.pk: _later(i, now) if scene is None or i.pk not in due else _due(i, scene) for i in waiting}
    views |= explain_upstreams(waiting, now)
    return {instance.pk: _with_deadline(instance, views[instance.pk], now) for instance in waiting}


def _is_due(instance: models.Instance, now: datetime) -> bool:
    return instance.status == Status.QUEUED or _moment(instance) <= now


def _moment(instance: models.Instance) -> datetime:
    return (instance.retry_at if instance.status == Status.RETRYING else None) or instance.due_at


def _later(instance: models.Instance, now: datetime) -> HoldView:
    moment = _moment(instance)
    code, sentence = "not_due", f"is due at {clock(moment, now)}"
    if instance.status == Status.RETRYING:
        failed = f"attempt {instance.attempt_count} failed"
        code, sentence = "retry_wait", f"{failed}; the next is at about {clock(moment, now)}"
    if instance.job.paused:
        return HoldView(code, f"{sentence}, but {_paused(instance.job)}", None, UNTIL_RESUMED)
    return HoldView(code, sentence, moment)


def _due(instance: models.Instance, scene: Scene) -> HoldView:
    """What is true of all nodes and all the queue comes before what is true of this one's place in it."""
    demand = demand_of(instance.job)
    if instance.job.paused:
        return HoldView("paused", _paused(instance.job), None, UNTIL_RESUMED)
    if not scene.live:
        return HoldView("no_node", nobody_runs(scene), None, UNTIL_STARTED)
    able = [live for live in scene.live if live.whole.meets(demand)]
    if not able:
        because = "it waits until a node runs that is large enough"
        return HoldView("node_too_small", too_small(demand, scene.live), None, because)
    starting = [live for live in able if not live.stopped]
    if not starting and not any(live.node.admission_stopped for live in able):
        return HoldView("draining", stopped(able), None, UNTIL_UNDRAINED)
    if not starting:
        return HoldView("admission_stopped", stopped(able), None, "it waits until starts are allowed again")
    if instance.pk not in scene.queue:
        return _in_no_place(instance, scene)
    if instance.pk in scene.installing:
        return being_installed(scene.installing[instance.pk], scene.now)
    if instance.pk in scene.limiting:
        return held_back(instance.pk, scene.limiting[instance.pk], scene)
    return in_its_place(instance.pk, demand, starting, scene)


def _in_no_place(instance: models.Instance, scene: Scene) -> HoldView:
    """Too far back, or about to enter the queue, or it left while we looked."""
    if len(scene.queue) < LOOKED_THROUGH and (not scene.queue or instance.status == Status.QUEUED):
        return HoldView("turn", SOON, scene.now)
    if instance.status != Status.QUEUED:
        return HoldView("turn", "its moment has come; it joins the queue in a moment", None, "it is not queued yet")
    because = f"at least {LOOKED_THROUGH} are ahead of it"
    return HoldView("turn", f"waits for its turn: {because}", None, because)


def _with_deadline(instance: models.Instance, view: HoldView, now: datetime) -> HoldView:
    """One that has begun once is not skipped any more."""
    last = Job(0, start_deadline_seconds=instance.job.start_deadline_seconds).start_by(instance.due_at)
    if last is None or instance.attempt_count:
        return view
    return replace(view, sentence=f"{view.sentence}; it is skipped if not started by {clock(last, now)}")


def _paused(job: models.Job) -> str:
    who = who_paused(job)
    return "the job is paused" + (f" by {who}" if who else "")
