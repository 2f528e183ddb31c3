"""The nodes, one node, and taking it out of work and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dashboard.live.sampler import first_load
from dashboard.views.acting import acted, actor_of, told
from dashboard.views.pages import live_page
from jobs import actions


@require_safe
@login_required
def node_list(request: HttpRequest) -> HttpResponse:
    return live_page(request, "nodes/list.html", ["nodes"])


@require_safe
@login_required
def node(request: HttpRequest, node_id: int) -> HttpResponse:
    return live_page(request, "nodes/node.html", [f"node:{node_id}", "load"], {"first_load": first_load()})


@require_POST
@login_required
def drain(request: HttpRequest, node_id: int) -> HttpResponse:
    return _change(request, node_id, actions.drain_node, "{} starts nothing new from now on. What runs there goes on.")


@require_POST
@login_required
def undrain(request: HttpRequest, node_id: int) -> HttpResponse:
    return _change(request, node_id, actions.undrain_node, "{} takes work again.")


def _change(
    request: HttpRequest, node_id: int, action: Callable[..., actions.NodeChanged], sentence: str
) -> HttpResponse:
    def said(done: actions.NodeChanged) -> str:
        return sentence.format(done.name) if done.changed else ""

    do = partial(action, node_id, actor=actor_of(request), now=timezone.now())
    return acted(request, lambda: told(request, do, said, "node", node_id))
