"""What an attempt gave: how far it says to be, its result, and the files that it wanted kept."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from dashboard.live.places import path_of
from dashboard.presentation import amounts
from dashboard.presentation.rows import Row
from jobs.downloads import IMAGE_STARTS, image_type
from jobs.execution.markers import read_progress
from jobs.execution.outputs import listed, open_output
from jobs.models import Attempt

MOST_FILES = 100
MOST_IMAGES = 4
LONGEST_RESULT = 10_000


@dataclass(frozen=True, slots=True)
class Told:
    """`percent`: 0 to 100."""

    percent: int
    text: str


@dataclass(frozen=True, slots=True)
class KeptFile:
    name: str
    size: str
    image: bool


@dataclass(frozen=True, slots=True)
class Given:
    """`result`: its JSON, indented; `more`: how many files are not named."""

    instance_id: int
    attempt: int
    result: str
    files: tuple[KeptFile, ...]
    more: int


def told_by(instance_id: int, number: int, token: str) -> Told | None:
    """Of an attempt that runs; None if it has said nothing. Reads a file."""
    found = read_progress(path_of(instance_id, number, token))
    return Told(round(100 * found.done), found.text) if found else None


def given_rows(attempt: Attempt | None) -> list[Row]:
    """One, or none where there is neither a result nor a file."""
    if attempt is None:
        return []
    path = path_of(attempt.instance_id, attempt.number, attempt.token)
    found = listed(path)
    if not found and not attempt.result:
        return []
    named = [one.name for one in found if image_type(one.name)][:MOST_IMAGES]
    images = [name for name in named if _begins_as_image(path, name)]
    files = tuple(KeptFile(one.name, amounts.size(one.size), one.name in images) for one in found[:MOST_FILES])
    result = json.dumps(json.loads(attempt.result), indent=2, ensure_ascii=False) if attempt.result else ""
    if len(result) > LONGEST_RESULT:
        result = f"{result[:LONGEST_RESULT]}…"
    given = Given(attempt.instance_id, attempt.number, result, files, max(0, len(found) - MOST_FILES))
    return [("given", given)]


def _begins_as_image(path: Path, name: str) -> bool:
    """Whether a browser could show it: a name alone promises what the file need not be."""
    try:
        with os.fdopen(open_output(path, name), "rb") as file:
            return file.read(4).startswith(IMAGE_STARTS)
    except OSError:
        return False
