"""Whether instances would start now: the engine of at least one node steps, and the database answers."""

# ruff: noqa: ARG001 - Django's signature

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from jobs.models import Node
from jobs.nodes import state_of


@dataclass(frozen=True, slots=True)
class Health:
    """`sentence` says why not when it is not `fine`, and what is wrong though it is."""

    fine: bool
    sentence: str
    nodes: Sequence[Node] = ()


def look(now: datetime) -> Health:
    """One query. A database that does not answer is an answer."""
    try:
        nodes = list(Node.objects.order_by("name"))
    except Error as error:
        return Health(fine=False, sentence=f"The database does not answer: {error}")
    live = [node for node in nodes if state_of(node, now) == "live"]
    stale = [node for node in nodes if state_of(node, now) == "stale"]
    if live:
        return Health(fine=True, sentence=" ".join(_silent(node, now) for node in stale) or "ok", nodes=nodes)
    if stale:
        return Health(fine=False, sentence=" ".join(_silent(node, now) for node in stale), nodes=nodes)
    return Health(fine=False, sentence="No node runs the scheduler; start `manage.py runscheduler`.", nodes=nodes)


def healthz(request: HttpRequest) -> HttpResponse:
    """For load balancers and watchdogs, without login: 200 or 503, and a line of text."""
    health = look(timezone.now())
    status = 200 if health.fine else 503
    # Whose node and which error is for those who have signed in: system/health tells them.
    text = "ok" if health.fine else "The scheduler does not step."
    return HttpResponse(f"{text}\n", status=status, content_type="text/plain", headers={"Cache-Control": "no-store"})


def _silent(node: Node, now: datetime) -> str:
    if node.heartbeat_at is None:
        return f"The engine of node {node.name} has not stepped yet."
    seconds = (now - node.heartbeat_at).total_seconds()
    return f"The engine of node {node.name} has not stepped for {seconds:.0f} s."
