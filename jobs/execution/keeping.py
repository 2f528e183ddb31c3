"""What this node knows of its run directories as a whole, in the file retention.json of the data folder.

Room is made oldest first, so that two moments tell of each instance whether its directory went, and a line a day when.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from jobs.core.retention import Ended

log = logging.getLogger(__name__)

FILE = "retention.json"
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
MOST_DAYS = 1000


@dataclass(frozen=True, slots=True)
class Kept:
    """`node`: the actor of its events. `runs_bytes`: what the directories of ended runs took at `swept_at`. `removed`:
    by the last sweep that removed anything, at `removed_at`.

    `room`: for what succeeded and what did not, a line a day (ended up to this moment, removed then), each later than
    the one before; moments are ISO texts.
    """

    node: str = ""
    swept_at: str = ""
    runs_bytes: int = 0
    removed_at: str = ""
    removed: Mapping[str, int] = field(default_factory=dict)
    room: Mapping[str, list[list[str]]] = field(default_factory=dict)

    def made_room_until(self, *, succeeded: bool) -> datetime:
        """What ended by then has no directory any more."""
        lines = self.room.get(_class(succeeded), [])
        return datetime.fromisoformat(lines[-1][0]) if lines else BEGINNING

    def making_room(self, last: Ended, now: datetime) -> Kept:
        """As it is when room was made up to this run."""
        name = _class(last.succeeded)
        lines = self.room.get(name, [])
        today = [line for line in lines if line[1][:10] == now.isoformat()[:10]]
        before = lines[: len(lines) - len(today)][-MOST_DAYS:]
        return replace(self, room={**self.room, name: [*before, [last.ended_at.isoformat(), now.isoformat()]]})

    def removed_on(self, run: Ended) -> datetime | None:
        """When the directory of this run, which is not there, was removed to make room; None: not for that."""
        for until, on in self.room.get(_class(run.succeeded), []):
            if run.ended_at <= datetime.fromisoformat(until):
                return datetime.fromisoformat(on)
        return None


def _class(succeeded: bool) -> str:
    return "succeeded" if succeeded else "other"


def read(data_dir: Path) -> Kept:
    """Nothing known where there is no such file, or it is broken."""
    try:
        kept = Kept(**json.loads((data_dir / FILE).read_text()))
        kept.made_room_until(succeeded=True), kept.made_room_until(succeeded=False)
    except FileNotFoundError:
        return Kept()
    except (OSError, ValueError, TypeError, AttributeError, LookupError) as error:
        log.warning("%s cannot be read, so what is known of the run directories begins anew: %s", FILE, error)
        return Kept()
    return kept


def write(data_dir: Path, kept: Kept) -> None:
    """Whole or not at all. OSError."""
    beside = data_dir / f"{FILE}.new"
    beside.write_text(json.dumps(asdict(kept)) + "\n")
    beside.replace(data_dir / FILE)
