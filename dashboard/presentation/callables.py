"""The callables that a job may run, as the form offers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from jobs.actions.callables import Place
from jobs.callables import discovery, registry
from jobs.models import Job

POOLED = "pooled"
# Where it runs, by its execution model.
WHERE = {
    "process": "In a process of its own, as a script does.",
    POOLED: "In a process that it shares, one after another, with others of its kind.",
    "thread": "On a thread of the node's host process. It takes no core unless it reserves one, which pins "
    "nothing. A cancel and the time limit ask it to end; nothing can force it to.",
    "async": "On the event loop of the node's host process. It takes no core unless it reserves one, which "
    "pins nothing. A cancel and the time limit cancel it where it waits.",
}


@dataclass(frozen=True, slots=True)
class Offered:
    """`least_cores`: fewer cannot be reserved. `shared`: what is about a process as a whole is not asked."""

    name: str
    function: str
    model: str
    where: str
    summary: str
    doc: str
    shared: bool
    least_cores: int


@dataclass(frozen=True, slots=True)
class Module:
    """Those of one module, under its name."""

    name: str
    offered: Sequence[Offered]


@dataclass(frozen=True, slots=True)
class Picker:
    """`gone`: the sentence about the chosen one, where the code has it no more. `failures`: of apps without theirs."""

    modules: Sequence[Module]
    gone: str
    failures: Sequence[str]


def picker_of(chosen: str) -> Picker:
    """All of them, by module; with `chosen` even if it is gone."""
    offered = [_offered(one) for one in registry.all()]
    grouped = groupby(offered, key=lambda one: one.name.rpartition(".")[0])
    gone = registry.missing(chosen) if chosen else ""
    return Picker([Module(name, list(found)) for name, found in grouped], gone, discovery.failures())


def model_words(job: Job) -> str:
    """Such as "async"; empty for what has no other choice than a process."""
    return job.execution_model if job.kind == Job.Kind.CALLABLE else ""


def _offered(one: registry.Registered) -> Offered:
    place = Place.of(one)
    model = POOLED if one.pooled else one.model
    function = one.name.rpartition(".")[2]
    return Offered(one.name, function, model, WHERE[model], one.summary, one.doc, place.shared, place.least_cores)
