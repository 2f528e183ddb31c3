"""One instance, what may be done to it, and its log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from dashboard.live.logs import LogPlace, log_frame
from dashboard.live.places import latest_place, place_of
from dashboard.once import once
from dashboard.presentation.instance import find
from dashboard.presentation.logtext import FIRST_BYTES, first_text
from dashboard.presentation.rows import Gone
from dashboard.views.acting import acted, actor_of
from dashboard.views.pages import live_page
from jobs import actions
from jobs.execution import log
from jobs.execution.rundir import BrokenFileError
from jobs.models import Instance

MOST_BYTES = 256 * 1024
DOWNLOAD_STEP = 256 * 1024


NOTHING_YET = {"kind": "log", "attempt": 0, "start": 0, "end": 0, "text": "", "complete": False}


@require_safe
@login_required
def instance(request: HttpRequest, instance_id: int) -> HttpResponse:
    """`?attempt=2` shows the log of that attempt instead of following the latest."""
    found = find_or_404(instance_id)
    chosen = _chosen(request)
    place = _place(instance_id, chosen)
    follows = chosen is None or place == latest_place(instance_id)
    context = {
        "instance": found,
        "follows": follows,
        "attempt": place.attempt if place else 0,
        "first": first_text(place),
        "retries": list(Instance.objects.filter(retry_of=found).order_by("id").values_list("id", flat=True)[:20]),
    }
    topics = [*([f"log:{instance_id}"] if follows else []), f"instance:{instance_id}"]
    return live_page(request, "instances/instance.html", topics, context)


@require_POST
@login_required
def cancel(request: HttpRequest, instance_id: int) -> HttpResponse:
    def act() -> HttpResponse:
        answer = actions.cancel_instance(instance_id, actor=actor_of(request), now=timezone.now())
        messages.info(request, answer.sentence)
        return redirect(_back(request, instance_id))

    return acted(request, act)


@require_POST
@login_required
def retry(request: HttpRequest, instance_id: int) -> HttpResponse:
    def act() -> HttpResponse:
        submitted = actions.retry_instance(instance_id, actor=actor_of(request), now=timezone.now())
        return redirect("instance", submitted.instance_id)

    return once(request, lambda: acted(request, act))


@require_safe
@never_cache
@login_required
def log_part(request: HttpRequest, instance_id: int) -> HttpResponse:
    """A frame of log text: from byte `start` on, or without it the end; of `attempt`, or without it the latest."""
    place = _place(instance_id, _chosen(request))
    if place is None:
        return JsonResponse(NOTHING_YET)
    try:
        end = log.state(place.path).end
    except BrokenFileError:  # a job wrote over its own result; it is put right when the attempt is settled
        return JsonResponse(NOTHING_YET)
    start = _whole(request.GET.get("start", "")) or 0
    # No more than the page would show: whoever wants all of it downloads it.
    first = max(start, end - FIRST_BYTES) if end - start > MOST_BYTES or "start" not in request.GET else start
    chunk = log.read_text(place.path, first, MOST_BYTES)
    frame = log_frame(f"log:{instance_id}", place, chunk, skipped=chunk.start - start)
    return HttpResponse(frame, content_type="application/json")


@require_safe
@login_required
def download(request: HttpRequest, instance_id: int) -> StreamingHttpResponse:
    """The log as it was printed, both streams, without what was dropped."""
    place = _place(instance_id, _chosen(request))
    if place is None:
        raise Http404(f"Instance {instance_id} has no such attempt, so there is no log of it.")
    response = StreamingHttpResponse(_bytes_of(place), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="instance-{instance_id}-attempt-{place.attempt}.log"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def find_or_404(instance_id: int) -> Instance:
    try:
        return find(instance_id)
    except Gone as gone:
        raise Http404(gone.sentence) from gone


async def _bytes_of(place: LogPlace) -> AsyncIterator[bytes]:
    # Async, or the whole log would be gathered in memory first: Django does that with other iterators under ASGI.
    start = 0
    while (chunk := await asyncio.to_thread(log.read, place.path, start, DOWNLOAD_STEP)).data:
        if dropped := sum(b - a for a, b in chunk.dropped_ranges):
            yield f"\n[rota] {dropped:,} bytes of output were dropped here: the log has a cap\n".encode()
        start = chunk.end
        yield chunk.data


def _place(instance_id: int, attempt: int | None) -> LogPlace | None:
    if instance_id >= 2**63:  # no column holds it
        return None
    return latest_place(instance_id) if attempt is None else place_of(instance_id, attempt)


def _chosen(request: HttpRequest) -> int | None:
    return _whole(request.GET.get("attempt", ""))


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 16 else None


def _back(request: HttpRequest, instance_id: int) -> str:
    """Where the button was, if that is a page of this site."""
    given = request.POST.get("next", "")
    fine = url_has_allowed_host_and_scheme(given, {request.get_host()}, require_https=request.is_secure())
    return given if fine else reverse("instance", args=[instance_id])
