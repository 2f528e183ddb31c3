"""The life of an instance as stages with durations, read from its events."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from dashboard.presentation import amounts, looks
from dashboard.presentation.looks import Look
from jobs.core.states import TERMINAL, Status
from jobs.models import Event

MOST_READ = 200
MOVES = (
    "instance.pending",
    "instance.queued",
    "instance.held",
    "instance.started",
    "attempt.began",
    "instance.cancel_requested",
    "instance.retrying",
    "instance.requeued",
    "instance.ended",
)


@dataclass(frozen=True, slots=True)
class Hold:
    """Why it waited from `at` on. `seconds` None: it still does."""

    because: str
    at: datetime
    seconds: float | None = None

    @property
    def lasted(self) -> str:
        return "" if self.seconds is None else amounts.duration(self.seconds)


@dataclass(frozen=True, slots=True)
class Stage:
    """What it was from `at` on. `seconds` None: it still is, or it is the end (`last`). `holds`: the reasons why it
    waited meanwhile, in order.
    """

    n: int
    look: Look
    at: datetime
    detail: str
    seconds: float | None = None
    last: bool = False
    holds: tuple[Hold, ...] = ()

    @property
    def lasted(self) -> str:
        return "" if self.seconds is None else amounts.duration(self.seconds)


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the bar, in thousandths of its width; at least a few, so that nothing that happened is invisible."""

    x: int
    width: int
    tone: str
    title: str


def read_events(instance_id: int) -> list[Event]:
    """The newest moves of an instance, in order. One query, along its index."""
    newest = Event.objects.filter(instance_id=instance_id, kind__in=MOVES).order_by("-id")[:MOST_READ]
    return list(newest)[::-1]


def stages(events: Iterable[Event]) -> list[Stage]:
    """One stage per move, each as long as until the next."""
    found: list[Stage] = []
    for event in events:
        if event.kind == "instance.held":
            found[-1:] = [replace(stage, holds=(*stage.holds, _hold(event))) for stage in found[-1:]]
        elif stage := _stage(event):
            found.append(stage)
    lasting = [_until(stage, after.at) for stage, after in itertools.pairwise(found)]
    return [*lasting, *(_until(stage, None) for stage in found[-1:])]


def _until(stage: Stage, end: datetime | None) -> Stage:
    """The stage and its holds with their lengths; `end` None for the last one, which has none."""
    ends = [*(hold.at for hold in stage.holds[1:]), end][: len(stage.holds)]
    holds = tuple(replace(hold, seconds=_seconds(hold.at, at)) for hold, at in zip(stage.holds, ends, strict=True))
    return replace(stage, seconds=_seconds(stage.at, end), holds=holds)


def _seconds(start: datetime, end: datetime | None) -> float | None:
    return None if end is None else (end - start).total_seconds()


def _hold(event: Event) -> Hold:
    code = str(event.data.get("code") or "")
    because = _HOLDS.get(code, f"waited: {code.replace('_', ' ')}")
    subject = event.data.get("subject")
    about = _about(code, subject) if isinstance(subject, dict) else ""
    return Hold(f"{because} {about}".strip(), event.at)


def _about(code: str, subject: dict[str, object]) -> str:
    """Which instance, or which limit, where the code is about one."""
    if code in ("behind", "overlap") and subject.get("instance"):
        return f"#{subject['instance']}"
    if code == "limit":
        return f"{str(subject.get('limit')).replace(':', ' ')} ({subject.get('in_use')} of {subject.get('maximum')})"
    return str(subject.get("limit") or "") if code == "rate" else ""


def bar(of: Sequence[Stage], now: datetime) -> list[Segment]:
    """The stages as widths. What still goes on reaches to `now`."""
    lengths = [max(0.0, _length(stage, now)) for stage in of if not stage.last]
    total = sum(lengths) or 1.0
    least = 8
    widths = [max(least, round(1000 * length / total)) for length in lengths]
    scale = 1000 / sum(widths) if widths else 1.0
    segments, x = [], 0.0
    for stage, width in zip(of, widths, strict=False):
        segments.append(Segment(round(x), max(1, round(width * scale)), stage.look.tone, _title(stage)))
        x += width * scale
    return segments


def _length(stage: Stage, now: datetime) -> float:
    return (now - stage.at).total_seconds() if stage.seconds is None else stage.seconds


def _title(stage: Stage) -> str:
    return f"{stage.look.word} {stage.lasted}".strip()


def _stage(event: Event) -> Stage | None:
    details = _DETAILS.get(event.kind)
    detail = details(event) if details else ""
    if event.kind == "attempt.began":
        return Stage(event.pk, looks.STATUSES[Status.RUNNING], event.at, detail)
    if event.kind == "instance.started":
        return Stage(event.pk, looks.STARTING, event.at, detail)
    if event.kind == "instance.cancel_requested":
        return Stage(event.pk, looks.STOPPING, event.at, detail)
    if not event.to_status:
        return None
    status = Status(event.to_status)
    return Stage(event.pk, looks.STATUSES[status], event.at, detail, last=status in TERMINAL)


def _submitted(event: Event) -> str:
    return f"submitted by {event.actor}" if event.actor and not event.from_status else ""


def _started(event: Event) -> str:
    held = amounts.held(event.data.get("cores", []), event.data.get("virtual_cores", 0))
    return ", ".join(part for part in (f"attempt {event.attempt}" if event.attempt else "", held) if part)


def _asked(event: Event) -> str:
    return f"asked for by {event.actor}" if event.actor else ""


def _ended(event: Event) -> str:
    return str(event.data.get("error") or "") or (f"attempt {event.attempt}" if event.attempt else "")


# What the engine stores of a wait is its code; the sentence with numbers is made when somebody looks, of that moment.
_HOLDS = {
    "turn": "waited for its turn",
    "cores": "waited for free cores",
    "memory": "waited for free memory",
    "behind": "cores were kept for a bigger one ahead of it,",
    "limit": "as many ran as a limit allows:",
    "rate": "waited for its turn at the rate",
    "overlap": "waited for the end of the same job's instance",
    "environment": "waited for its packages to be installed",
    "paused": "the job was paused",
    "node_too_small": "no node that ran was large enough",
    "no_node": "no node ran",
    "draining": "every node that could run it was draining",
    "admission_stopped": "starts were stopped on the node",
    "retry_wait": "waited for the next attempt",
    "not_due": "was not due yet",
}
_DETAILS = {
    "instance.pending": _submitted,
    "instance.queued": _submitted,
    "instance.started": _started,
    "attempt.began": lambda _: "it has started",
    "instance.cancel_requested": _asked,
    "instance.retrying": _ended,
    "instance.requeued": _ended,
    "instance.ended": _ended,
}
