"""Why one that no limit holds back does not start: room, its turn, or cores that are kept for a big one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.conf import settings

from jobs.core.prediction import Prediction
from jobs.core.records import Demand
from jobs.holds.phrases import are, clock, cores, expected, needs, shown_name, unreturned
from jobs.holds.scene import Live, Scene
from jobs.holds.view import HoldView

SOON = "starts in a moment"


def in_its_place(instance_id: int, demand: Demand, able: Sequence[Live], scene: Scene) -> HoldView:
    prediction = scene.starts[instance_id]
    fitting = [live for live in able if live.free.meets(demand)]
    if fitting:
        code, sentence = _though_it_fits(instance_id, demand, fitting, scene, prediction)
    else:
        roomiest = max(able, key=lambda live: live.free.slots)
        live = next((live for live in able if live.node.pk == prediction.node_id), roomiest)
        code, sentence = _lacks(demand, live, scene)
        sentence += _freed_by(prediction, scene.now) or unreturned(_threads(code, demand, able))
    return HoldView(code, sentence, prediction.at, prediction.unknown_because)


def _though_it_fits(
    instance_id: int, demand: Demand, fitting: Sequence[Live], scene: Scene, prediction: Prediction
) -> tuple[str, str]:
    ahead, when = scene.ahead_of(instance_id), expected(prediction, scene.now)
    kept = [(live, big) for live in fitting if (big := _kept_for(live, ahead, scene)) is not None]
    if len(kept) == len(fitting) and prediction.at != scene.now:
        return "behind", _kept(demand, *kept[0], scene) + when
    # Those that no such node can ever give enough, or that a limit holds back, are in nobody's way.
    rivals = [
        other
        for other in ahead
        if other not in scene.limiting and any(live.whole.meets(scene.queue[other].demand) for live in fitting)
    ]
    if prediction.at == scene.now or not rivals:
        return "turn", SOON
    return "turn", f"{are(len(rivals))} ahead of it{_whose(rivals, scene)}{when}"


def _whose(rivals: Sequence[int], scene: Scene) -> str:
    """With fair shares, of which tenants."""
    if settings.ORDER != "fair":
        return ""
    counts = Counter(scene.tenants[other] for other in rivals)
    said = [f"{count} of {f'tenant {shown_name(who)}' if who else 'no tenant'}" for who, count in counts.most_common(3)]
    others = len(rivals) - sum(count for _, count in counts.most_common(3))
    return f" ({', '.join([*said, *([f'{others} of others'] if others else [])])})"


def _kept_for(live: Live, ahead: Sequence[int], scene: Scene) -> int | None:
    """What the engine wrote may be over: then the one that it was kept for has left the queue, or fits by now."""
    big = live.node.kept_for
    return big if big is not None and big in ahead and not live.free.meets(scene.queue[big].demand) else None


def _kept(demand: Demand, live: Live, big: int, scene: Scene) -> str:
    free = f"{_free(live)}{_on(live, scene)}"
    wanted = needs(scene.queue[big].demand)
    return f"needs {cores(demand.cores)}, {free}, but kept for instance {big}, which is ahead of it and needs {wanted}"


def _lacks(demand: Demand, live: Live, scene: Scene) -> tuple[str, str]:
    free, where = live.free, _on(live, scene)
    if demand.cores > free.slots:
        return "cores", f"needs {cores(demand.cores)}, {_free(live)}{where}"
    left = max(0, free.memory_mb or 0)
    return "memory", f"needs {demand.memory_mb} MB of memory, {left} MB {'is' if left == 1 else 'are'} free{where}"


def _threads(lacking: str, demand: Demand, able: Sequence[Live]) -> list[int]:
    """Of the abandoned ones those that hold of what lacks, on nodes where it does."""
    needed = Demand(demand.cores, 0) if lacking == "cores" else Demand(0, demand.memory_mb)
    held = [one for live in able if not live.free.meets(needed) for one in live.threads]
    return sorted(one.instance_id for one in held if (one.slots if lacking == "cores" else one.memory_mb))


def _free(live: Live) -> str:
    """A virtual slot is no core of its own: a map of free cores shows none of it."""
    slots, virtual = live.free.slots, live.free_virtual
    if not virtual:
        return f"{are(slots)} free"
    if virtual == slots:
        return f"{slots} virtual {'slots are' if slots > 1 else 'slot is'} free"
    return f"{are(slots)} free, {virtual} of them virtual"


def _freed_by(prediction: Prediction, now: datetime) -> str:
    if prediction.at is None or not prediction.freed_by:
        return ""
    *before, last = prediction.freed_by
    who, has = f"instance {last} frees", "it has"
    if before:
        others = str(before[0]) if len(before) == 1 else f"{len(before)} others"
        who, has = f"instances {last} and {others} free", "they have"
    if prediction.at <= now:
        return f"; {who} enough any moment: {has} run longer than expected"
    return f"; {who} enough at about {clock(prediction.at, now)}"


def _on(live: Live, scene: Scene) -> str:
    """Whose numbers they are, where it is not the only node."""
    return f" on {live.node.name}" if len(scene.live) > 1 else ""
