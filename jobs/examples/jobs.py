"""Functions that show what a callable can be: one for each execution model."""

import asyncio
import os
from contextlib import suppress
from typing import Annotated

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore

from jobs.callables import job
from jobs.callables.context import Context
from jobs.parameters.bounds import Bounds

Port = Annotated[int, Bounds(ge=1, le=65_535)]
Seconds = Annotated[float, Bounds(gt=0, le=60, description="Then it counts as silent.")]


@job(model="async")
async def port_answers(host: str = "127.0.0.1", port: Port = settings.PORT, within_seconds: Seconds = 5.0) -> str:
    """Fail unless something listens at this port of the host."""
    async with asyncio.timeout(within_seconds):
        _, writer = await asyncio.open_connection(host, port)
    writer.close()
    return f"{host}:{port} answers"


@job(model="thread")
def folder_size(
    context: Context,
    folder: str = str(settings.DATA_DIR),
    largest: Annotated[int, Bounds(ge=0, le=100, description="How many of the largest.")] = 3,
) -> dict[str, int]:
    """How many bytes a folder has, and the largest of what is in it."""
    sizes: dict[str, int] = {}
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    for done, entry in enumerate(entries):
        context.cancelled.check()
        context.progress(done / len(entries), entry.name)
        sizes[entry.path] = _size(entry)
    most = sorted(sizes, key=sizes.__getitem__, reverse=True)[:largest]
    return {folder: sum(sizes.values()), **{path: sizes[path] for path in most}}


@job(model="process")
def forget_expired_sessions() -> None:
    """Delete the sessions of Django that have run out."""
    SessionStore.clear_expired()


def _size(entry: os.DirEntry[str]) -> int:
    """Of a file, or of all files below a folder; what may not be read, or is gone meanwhile, counts as nothing."""
    if not entry.is_dir(follow_symlinks=False):
        with suppress(OSError):
            return entry.stat(follow_symlinks=False).st_size
        return 0
    return sum(_size(inner) for inner in _entries(entry.path))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as found:
        return list(found)
    return []
