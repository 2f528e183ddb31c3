"""What an attempt printed, as raw bytes: whole, a part of it, or what came since."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from http import HTTPStatus
from itertools import pairwise
from pathlib import Path
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from ninja import P, QueryEx, Router

from jobs.actions import InvalidInput, NotFound, Problem
from jobs.actions.keeping import log_gone
from jobs.actions.reading import shown
from jobs.api import answers, pages
from jobs.api.outputs import rundir_of
from jobs.api.problems import RequestError, problem
from jobs.api.strict import identifier
from jobs.execution import log, loglines, logsearch
from jobs.execution.loglines import Extent
from jobs.models import Attempt, Instance

router = Router(tags=["instances"])

MEDIA_TYPE = "text/plain; charset=utf-8"
LARGEST_PART = 4 * 1024 * 1024
DEFAULT_PART = 1024 * 1024
PORTION = 256 * 1024
MOST_MATCHES = 1000
MOST_LINES = 1_000_000
DEFAULT_LINES = 1000
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


@router.get(
    "/instances/{instance_id}/log",
    response={200: None, 206: None, **answers.REFUSALS, 410: answers.Refusal, 416: answers.Refusal},
)
def read_log(
    request: HttpRequest,
    instance_id: str,
    attempt: QueryEx[int | None, P(ge=1, le=2**31 - 1, description="Its number; the latest unless given.")] = None,
    start: QueryEx[int | None, P(ge=0, le=pages.LARGEST, description="Offset of the first byte.")] = None,
    limit: QueryEx[
        int | None, P(ge=1, le=LARGEST_PART, description="Most bytes; without `start` from the first.")
    ] = None,
    line: QueryEx[int | None, P(ge=1, le=pages.LARGEST, description="Number of the first line, from 1.")] = None,
    lines: QueryEx[int | None, P(ge=1, le=MOST_LINES, description="Most lines (1,000); without `line` from 1.")] = None,
    search: QueryEx[
        str | None, P(description="Words: the answer is the lines that have them, as JSON, instead of the log.")
    ] = None,
) -> Any:
    """Both streams in the order in which they came.

    With `search` (capitals A to Z are as good as small letters) all that is kept is looked through, and the answer is
    `{"matches": [{"line": 120, "text": "..."}], "more": false}`: lines are counted from 1, `text` is what is around the
    words, and `more` says that there are others after the first 1,000.

    Offsets count all bytes that were printed; of a log past its cap the middle is not kept. `X-Log-Start` and
    `X-Log-End` are the offsets of what is sent, `X-Log-Dropped` names ranges that are gone, and
    `X-Log-Complete: true` says that nothing will come after it. With `start` (read on from `X-Log-End`) or a `Range`
    of bytes a part is sent; with `line` that line and those after it, at most `lines` and 4 MB. Two of these at
    once are refused.
    """
    path = _rundir(identifier("instance", instance_id), attempt)
    wanted = _range_asked(request)
    part = limit if start is None else start
    _check_one_way({"search": search, "line": line or lines, "start": part, "Range": wanted and wanted[0]})
    if search is not None:
        return _matches(path, search)
    if path is None:
        return _part(log.LogChunk(0, 0, b"", (), complete=False), HTTPStatus.OK)
    if line or lines:
        return _part(_lines(path, line or 1, lines or DEFAULT_LINES), HTTPStatus.OK)
    if start is not None or limit is not None:
        return _part(log.read(path, start or 0, limit or DEFAULT_PART), HTTPStatus.OK)
    return _range(path, *wanted.groups()) if wanted else _whole(request, path)


def _range_asked(request: HttpRequest) -> re.Match[str] | None:
    """What the header asks for, if it is a range that is answered: any other gets the whole, as RFC 9110 has it."""
    if "If-Range" in request.headers:  # no log has a mark to be known by
        return None
    wanted = RANGE.fullmatch(request.headers.get("Range", "").strip())
    return wanted if wanted and any(wanted.groups()) else None


def _check_one_way(asked: dict[str, object]) -> None:
    """What is given and would be passed over is refused."""
    ways = [name for name, value in asked.items() if value is not None]
    if len(ways) > 1:
        sentence = f"{ways[0]} and {ways[1]} ask for different parts of the log; give one of them."
        raise InvalidInput([Problem(ways[1], shown(asked[ways[1]]), f"it, or {ways[0]}", sentence)])


def _rundir(instance_id: int, number: int | None) -> Path | None:
    """None before the first attempt."""
    instance = Instance.objects.filter(pk=instance_id).first()
    if instance is None:
        raise NotFound("instance", instance_id)
    attempts = Attempt.objects.filter(instance_id=instance_id).order_by("-number")
    found = (attempts if number is None else attempts.filter(number=number)).first()
    if found is None and number is not None:
        raise NotFound(f"attempt {number} of instance", instance_id)
    path = rundir_of(found) if found else None
    if path and (gone := log_gone(instance, path)):
        raise RequestError(HTTPStatus.GONE, gone)
    return path


def _matches(path: Path | None, words: str) -> JsonResponse:
    try:
        found = logsearch.search(path, words, most=MOST_MATCHES) if path else logsearch.Found([], more=False)
    except logsearch.EmptySearchError as refusal:
        expected = f"1 to {logsearch.LONGEST_WORDS} characters in a line"
        raise InvalidInput([Problem("search", shown(words), expected, f"{refusal}.")]) from refusal
    return JsonResponse({"matches": [match._asdict() for match in found.matches], "more": found.more})


def _part(chunk: log.LogChunk, status: HTTPStatus) -> HttpResponse:
    headers = _headers(chunk.start, chunk.end, chunk.dropped_ranges, chunk.complete)
    return HttpResponse(chunk.data, status=status, content_type=MEDIA_TYPE, headers=headers)


def _lines(path: Path, line: int, count: int) -> log.LogChunk:
    """Nothing, at the end, where there is no such line yet. What is kept next to it where it is not kept."""
    state = log.state(path)
    at = loglines.offset_of(path, line)
    found = loglines.window(path, at, Extent(0), Extent(LARGEST_PART, count), until=state.end).later
    if not found or found[0].line < line:
        return log.LogChunk(state.end, state.end, b"", (), state.complete)
    gaps = (place for place, (run, after) in enumerate(pairwise(found), 1) if run.end != after.offset)
    together = found[: next(gaps, len(found))]
    end = together[-1].end
    return log.LogChunk(at, end, b"".join(run.data for run in together), (), state.complete and end >= state.end)


def _range(path: Path, first: str, last: str) -> HttpResponse:
    """RFC 9110: less than what was asked for may be sent, and Content-Range says what was."""
    state = log.state(path)
    start = int(first) if first else max(0, state.end - int(last))
    stop = int(last) + 1 if first and last else state.end
    if start >= state.end or stop <= start:
        headers = {"Content-Range": f"bytes */{state.end}"}
        sentence = f"The log has {state.end:,} bytes so far; ask for a range within them."
        if first and last and int(last) < int(first):
            sentence = f"The range begins at {int(first):,} and ends at {int(last):,}; ask for the lower first."
        return problem(416, sentence, headers=headers)
    chunk = log.read(path, start, min(stop - start, LARGEST_PART))
    if chunk.start >= stop:
        headers = {"Content-Range": f"bytes */{state.end}", "X-Log-Dropped": f"{start}-{chunk.start}"}
        sentence = f"These bytes are not kept: the log has a cap. What is kept next to them begins at {chunk.start:,}."
        return problem(416, sentence, headers=headers)
    if chunk.end > stop:  # its beginning is not kept
        chunk = replace(chunk, end=stop, data=chunk.data[: stop - chunk.start], complete=False)
    response = _part(chunk, HTTPStatus.PARTIAL_CONTENT)
    total = state.end if state.complete else "*"
    response.headers["Content-Range"] = f"bytes {chunk.start}-{max(chunk.start, chunk.end - 1)}/{total}"
    return response


def _whole(request: HttpRequest, path: Path) -> StreamingHttpResponse:
    """All that is kept up to now, read in portions as it is sent."""
    state = log.state(path)
    kept = log.segments(path)
    dropped = tuple((a, b) for (_, a), (b, _) in pairwise(kept) if a != b)
    portions = _portions(path, state.end)
    content = _one_by_one(portions) if isinstance(request, ASGIRequest) else portions
    headers = _headers(kept[0][0] if kept else 0, state.end, dropped, state.complete)
    return StreamingHttpResponse(content, content_type=MEDIA_TYPE, headers=headers)


def _portions(path: Path, end: int) -> Iterator[bytes]:
    at = 0
    while at < end:
        chunk = log.read(path, at, min(PORTION, end - at))
        if chunk.end <= at:
            return
        at = chunk.end
        yield chunk.data


async def _one_by_one(portions: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Under ASGI Django would read a plain iterator to its end, into memory, before it sends anything."""
    read_next = sync_to_async(lambda: next(portions, None))
    while (portion := await read_next()) is not None:
        yield portion


def _headers(start: int, end: int, dropped: tuple[tuple[int, int], ...], complete: bool) -> dict[str, str]:
    headers = {
        "X-Log-Start": str(start),
        "X-Log-End": str(end),
        "X-Log-Complete": "true" if complete else "false",
        "Accept-Ranges": "bytes",
        "Cache-Control": "no-store",
    }
    if dropped:
        headers["X-Log-Dropped"] = ", ".join(f"{first}-{after}" for first, after in dropped)
    return headers
