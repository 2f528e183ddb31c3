"""What all hosts do alike: take an attempt on, find its function, judge its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from jobs.callables import registry
from jobs.callables.answers import Answer, named, rejected
from jobs.callables.context import Context
from jobs.callables.hosted import Hosted, take
from jobs.callables.link import Link
from jobs.execution.spec import Result
from jobs.execution.verdict import EndedByUs

Call = Callable[[], Any]
STOP_SECONDS = 2.0  # for what ends when it is asked to
STOPPED = EndedByUs("lost", "was lost: the service ended while it ran, and what runs in its host process ends with it")


def taken(link: Link, token: str, path: str) -> Hosted | None:
    """The attempt in `path`, claimed; None if it cannot be had, which the service is told."""
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
    hosted.later = link.later
    return hosted


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
