"""The log of an attempt: parts of it as frames, what is found in it, and the whole as a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.filters import whole_number
from dashboard.live.logs import LogPlace, LogSpan, frame_of, log_frame
from dashboard.live.places import latest_place, place_of
from dashboard.presentation.logtext import FIRST_BYTES
from jobs.actions.keeping import log_gone
from jobs.execution import log, loglines, logsearch
from jobs.execution.loglines import Extent
from jobs.execution.rundir import BrokenFileError
from jobs.models import Instance

MOST_BYTES = 256 * 1024
DOWNLOAD_STEP = 256 * 1024
STREAMS = {"1": log.STDOUT, "2": log.STDERR}
# What a page shows at a time: it keeps 2,000 lines, and the one that was asked for must stay among them.
TAIL = Extent(FIRST_BYTES, 1500)
BEFORE_A_LINE, AFTER_A_LINE = Extent(48 * 1024, 300), Extent(128 * 1024, 1000)

UNREADABLE = "The job wrote over the file that says how it ended. Its log can be downloaded when the attempt has ended."
NOTHING_YET = {"kind": "log", "attempt": 0, "start": 0, "end": 0, "text": "", "runs": [], "complete": False}


@require_safe
@never_cache
@login_required
def log_part(request: HttpRequest, instance_id: int) -> HttpResponse:
    """A frame of log text of `attempt`, or without it the latest.

    From byte `start` on; or what is around `line`; or the end, as far as byte `until`. With `stream` 1 or 2 only what
    came by standard output or by standard error.
    """
    place = place_at(instance_id, request)
    if place is None:
        return JsonResponse(NOTHING_YET)
    try:
        state = log.state(place.path)
    except BrokenFileError:  # a job wrote over its own result; it is put right when the attempt is settled
        return JsonResponse(NOTHING_YET)
    start = whole_number(request.GET.get("start", ""))
    topic = f"log:{instance_id}"
    frame = _window(topic, place, state, request) if start is None else _from(topic, place, state, start)
    return HttpResponse(frame, content_type="application/json")


@require_safe
@never_cache
@login_required
def search(request: HttpRequest, instance_id: int) -> HttpResponse:
    """The numbers of the lines that have `words`, in the whole of what is kept, of `attempt` and `stream` as above."""
    place = place_at(instance_id, request)
    try:
        stream = STREAMS.get(request.GET.get("stream", ""))
        words = request.GET.get("words", "")
        found = logsearch.search(place.path, words, stream) if place else logsearch.Found([], more=False)
    except logsearch.EmptySearchError as refusal:
        return JsonResponse({"error": f"{refusal}."}, status=400)
    return JsonResponse({"lines": [match.line for match in found.matches], "more": found.more})


@require_safe
@login_required
def download(request: HttpRequest, instance_id: int) -> HttpResponse | StreamingHttpResponse:
    """The log as it was printed, both streams, without what was dropped."""
    place = place_at(instance_id, request)
    if place is None:
        raise Http404(f"Instance {instance_id} has no such attempt, so there is no log of it.")
    instance = Instance.objects.filter(pk=instance_id).first()
    if instance and (gone := log_gone(instance, place.path)):
        return render(request, "refused.html", {"sentence": gone}, status=HTTPStatus.GONE)
    try:
        end = log.state(place.path).end
    except BrokenFileError:  # as above; told now, for what fails while it is sent only breaks off
        return render(request, "refused.html", {"sentence": UNREADABLE}, status=HTTPStatus.CONFLICT)
    response = StreamingHttpResponse(_bytes_of(place, end), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="instance-{instance_id}-attempt-{place.attempt}.log"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def place_at(instance_id: int, request: HttpRequest) -> LogPlace | None:
    """Where the log of the attempt lies that the address names, or the latest one's."""
    number = whole_number(request.GET.get("attempt", ""))
    if instance_id >= 2**63:  # no column holds it
        return None
    return latest_place(instance_id) if number is None else place_of(instance_id, number)


def _from(topic: str, place: LogPlace, state: log.LogState, start: int) -> str:
    # No more than the page would show: whoever wants all of it downloads it.
    first = max(start, state.end - FIRST_BYTES) if state.end - start > MOST_BYTES else start
    chunk = log.read_text(place.path, first, MOST_BYTES)
    return log_frame(topic, place, chunk, skipped=chunk.start - start)


def _window(topic: str, place: LogPlace, state: log.LogState, request: HttpRequest) -> str:
    until = whole_number(request.GET.get("until", ""))
    until = state.end if until is None else min(until, state.end)
    stream = STREAMS.get(request.GET.get("stream", ""))
    line = whole_number(request.GET.get("line", ""))
    offset = until if line is None else min(until, loglines.offset_of(place.path, line))
    before, after = (TAIL, Extent(0)) if line is None else (BEFORE_A_LINE, AFTER_A_LINE)
    earlier, later, ends, begins = loglines.window(place.path, offset, before, after, stream, until)
    found = [*earlier, *later]
    end = until if ends or not found else found[-1].end
    start = found[0].offset if found else end
    span = LogSpan(start, end, state.complete and end >= state.end)
    return frame_of(topic, place, found, span, skipped=start, begins=begins)


async def _bytes_of(place: LogPlace, end: int) -> AsyncIterator[bytes]:
    """As far as byte `end`, or a little more: a job that prints faster than somebody reads would hold the download."""
    # Async, or the whole log would be gathered in memory first: Django does that with other iterators under ASGI.
    start = 0
    while start < end and (chunk := await asyncio.to_thread(log.read, place.path, start, DOWNLOAD_STEP)).data:
        if dropped := sum(b - a for a, b in chunk.dropped_ranges):
            yield f"\n[rota] {dropped:,} bytes of output were dropped here: the log has a cap\n".encode()
        start = chunk.end
        yield chunk.data
