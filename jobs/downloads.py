"""Files that jobs have left, as answers: what a job wrote is never shown as a page of ours."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import BinaryIO

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

# What a browser may show: it can hold no script.
IMAGES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
IMAGE_STARTS = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")  # of these kinds
STEP = 256 * 1024


def image_type(name: str) -> str:
    """Empty for what is no image by its name."""
    return IMAGES.get(name.rpartition(".")[2].lower(), "") if "." in name else ""


class Download(StreamingHttpResponse):
    """Closes its file even if it is never sent, nor closed itself: whoever asked for it may be gone by then."""

    def __init__(self, fd: int, content_type: str) -> None:
        self._file = os.fdopen(fd, "rb")
        size = os.fstat(fd).st_size
        super().__init__(_parts(self._file, size), content_type=content_type)
        self["Content-Length"] = str(size)  # so that a part of it is not taken for all

    def close(self) -> None:
        self._file.close()
        super().close()

    def __del__(self) -> None:
        self._file.close()


def download(fd: int, name: str) -> Download:
    """The file in `fd`, which is closed at the end."""
    shown_as = image_type(name)
    response = Download(fd, shown_as or "application/octet-stream")
    disposition = content_disposition_header(as_attachment=not shown_as, filename=name.rpartition("/")[2])
    response["Content-Disposition"] = disposition or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    return response


async def _parts(file: BinaryIO, size: int) -> AsyncIterator[bytes]:
    # Async, or the whole file would be gathered in memory first: Django does that with other iterators under ASGI.
    with file:
        while size > 0 and (part := await asyncio.to_thread(file.read, min(STEP, size))):
            size -= len(part)
            yield part
