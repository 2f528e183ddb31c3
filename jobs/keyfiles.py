"""Keys that are made when they are first needed and kept in a file of the data folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def kept_in(file: Path, make: Callable[[], str]) -> str:
    """The text of `file` (mode 0600), which is made if it is not there. OSError if it can be neither read nor made."""
    if not file.exists():
        with suppress(FileExistsError):
            _write(file, make(), lambda draft: os.link(draft, file))
    return file.read_text().strip()


def replace(file: Path, text: str) -> None:
    _write(file, text, lambda draft: draft.replace(file))


def _write(file: Path, text: str, put: Callable[[Path], object]) -> None:
    """Two commands may start at once in an empty folder: link() lets one of them win with its file complete, so that
    the other never reads an empty key.
    """
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # mode 0600
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "w") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(descriptor)
        put(draft)
    finally:
        draft.unlink(missing_ok=True)
