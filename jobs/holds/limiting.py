"""Why one waits whatever room there is: a limit is full, a rate has nothing left, another of its job is under way."""

from __future__ import annotations

from datetime import datetime, timedelta

from jobs.core.prediction import Prediction
from jobs.core.records import Hold
from jobs.holds.phrases import clock, expected, often, run, shown_name, unreturned
from jobs.holds.scene import Scene
from jobs.holds.view import HoldView

SECOND = timedelta(seconds=1)


def held_back(instance_id: int, hold: Hold, scene: Scene) -> HoldView:
    prediction = scene.starts[instance_id]
    say = {"limit": _limit, "rate": _rate, "overlap": _overlap}[hold.code]
    return HoldView(hold.code, say(hold, prediction, scene), prediction.at, prediction.unknown_because)


def _limit(hold: Hold, prediction: Prediction, scene: Scene) -> str:
    key = str(hold.subject["limit"])
    maximum, in_use = (int(str(hold.subject[name])) for name in ("maximum", "in_use"))
    kind, _, name = key.partition(":")
    who = {"job": "its job", "tag": f"tag {shown_name(name)}", "model": f"the model {shown_name(name)}"}[kind]
    said = f"{who} allows {maximum} at once, {run(in_use)}"
    ends = sorted((at, h) for h in scene.holders.get(key, ()) if (at := scene.ends_at.get(h)) is not None)
    # Of a limit that was lowered under those that run, several have to end before there is a place.
    too_many = in_use - maximum
    if not maximum or len(ends) <= too_many:
        threads = sorted(scene.abandoned & set(scene.holders.get(key, ())))
        return said + (expected(prediction, scene.now) or unreturned(threads))
    ends_at, instance_id = ends[too_many]
    said += f"; instance {instance_id} {_ends(ends_at, scene.now)}"
    if prediction.at is not None and prediction.at - ends_at >= SECOND:  # else it would say one moment twice
        said += expected(prediction, scene.now)
    return said


def _rate(hold: Hold, prediction: Prediction, scene: Scene) -> str:
    name = str(hold.subject["limit"])
    pace = scene.rates[name]
    turn = "" if prediction.at is None else f"; its turn is at {clock(prediction.at, scene.now)}"
    return f"{shown_name(name)} allows {often(pace)}{turn}"


def _overlap(hold: Hold, prediction: Prediction, scene: Scene) -> str:
    other = int(str(hold.subject["instance"]))
    if other in scene.abandoned:
        return f"waits until the thread of instance {other} of the same job, which has ended, has returned"
    said = f"waits until instance {other} of the same job has ended"
    if (again := scene.next_try_at.get(other)) is not None:
        return f"{said}, which failed and is tried again at about {clock(again, scene.now)}"
    ends_at = scene.ends_at.get(other)
    if ends_at is None:
        return said
    said += ", any moment" if ends_at <= scene.now else f", at about {clock(ends_at, scene.now)}"
    return said if prediction.at is None or prediction.at - ends_at < SECOND else said + expected(prediction, scene.now)


def _ends(moment: datetime, now: datetime) -> str:
    return "ends any moment" if moment <= now else f"ends at about {clock(moment, now)}"
