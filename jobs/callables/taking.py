"""What all hosts do alike: take an attempt on, find its function, judge its end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from jobs.callables import registry
from jobs.callables.answers import Answer, named, rejected
from jobs.callables.context import Context
from jobs.callables.hosted import Hosted
from jobs.callables.link import Link
from jobs.execution import claim
from jobs.execution.rundir import SPEC, RunDir
from jobs.execution.spec import Result, Spec
from jobs.execution.verdict import STOPPED, EndedByUs

Call = Callable[[], Any]
STOP_SECONDS = 2.0  # for what ends when it is asked to


def taken(link: Link, token: str, path: str, end: Callable[[str, EndedByUs], None]) -> Hosted | None:
    """The attempt in `path`, claimed; None if it cannot be had, which the service is told. end: has it end
    early, by its token.
    """
    try:
        hosted = take(path)
    except (OSError, ValueError) as error:
        why = f"could not be started: {error}"
        refused = Result(token, "lost", time.time(), why, node_refused=isinstance(error, OSError))
        link.send(ended=token, result=refused.to_json())
        return None
    if hosted is None:
        link.send(returned=token)
        return None
    hosted.later, hosted.end_early = link.later, partial(end, token)
    return hosted


def take(path: str) -> Hosted | None:
    """Claim the attempt in `path`; None if it is not ours (any more). OSError or ValueError if that cannot be done."""
    try:
        rundir = RunDir(path)
    except FileNotFoundError:
        return None
    claimed = None
    try:
        claimed = claim.claim_as_runner(rundir)
        if claimed is not None:
            return Hosted(rundir, Spec.from_json(rundir.read_json(SPEC) or {}), claimed)
    except (OSError, ValueError):
        if claimed is not None:
            os.close(claimed)
        rundir.close()
        raise
    rundir.close()
    return None


def call_of(name: str, read: Callable[[], dict[str, Any]], make: Callable[[dict[str, Any]], Context]) -> Call | Answer:
    """The call with its arguments, or why there is none. `read`: gives the values of its parameters; `make`: its
    context of these.
    """
    found = registry.get(name)
    if found is None:
        return rejected(registry.missing(name))
    try:
        values = read()
        return partial(found.function, **found.arguments(values, make(values)))
    except Exception as error:  # noqa: BLE001 of annotations of its own too: in a host nobody else would end the attempt
        return rejected(f"its parameters do not fit {name}: {named(error)}")


def judged(why: EndedByUs | None, answer: Answer, *, interrupted: bool) -> Answer:
    """What counts if it was asked to end. An end of its own while the service stops is its own."""
    if why is None or (why.kind == STOPPED.kind and not interrupted):
        return answer
    return Answer(why.kind, why.error, output="" if interrupted else answer.output)
