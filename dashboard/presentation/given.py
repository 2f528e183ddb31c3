"""What an attempt gave: how far it says to be, its result, and the files that it wanted kept."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dashboard.live.places import path_of
from dashboard.presentation import amounts
from dashboard.presentation.rows import Row
from jobs.downloads import image_type
from jobs.execution.markers import read_progress
from jobs.execution.outputs import listed
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
    found = listed(path_of(attempt.instance_id, attempt.number, attempt.token))
    if not found and not attempt.result:
        return []
    images = [one.name for one in found if image_type(one.name)][:MOST_IMAGES]
    files = tuple(KeptFile(one.name, amounts.size(one.size), one.name in images) for one in found[:MOST_FILES])
    result = json.dumps(json.loads(attempt.result), indent=2, ensure_ascii=False) if attempt.result else ""
    if len(result) > LONGEST_RESULT:
        result = f"{result[:LONGEST_RESULT]}…"
    given = Given(attempt.instance_id, attempt.number, result, files, max(0, len(found) - MOST_FILES))
    return [("given", given)]
