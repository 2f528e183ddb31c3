"""Files that jobs have left, as answers: what a job wrote is never shown as a page of ours."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

# What a browser may show: it can hold no script.
IMAGES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
STEP = 256 * 1024


def image_type(name: str) -> str:
    """Empty for what is no image by its name."""
    return IMAGES.get(name.rpartition(".")[2].lower(), "") if "." in name else ""


def download(fd: int, name: str) -> StreamingHttpResponse:
    """The file in `fd`, which is closed at the end."""
    shown_as = image_type(name)
    response = StreamingHttpResponse(_parts(fd), content_type=shown_as or "application/octet-stream")
    disposition = content_disposition_header(as_attachment=not shown_as, filename=name.rpartition("/")[2])
    response["Content-Disposition"] = disposition or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    return response


async def _parts(fd: int) -> AsyncIterator[bytes]:
    # Async, or the whole file would be gathered in memory first: Django does that with other iterators under ASGI.
    with os.fdopen(fd, "rb") as file:
        while part := await asyncio.to_thread(file.read, STEP):
            yield part
