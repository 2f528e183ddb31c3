"""How an attempt was run, for its card: command line, directory, limits, environment."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dashboard.live.places import path_of
from dashboard.presentation import amounts
from dashboard.presentation.rows import Row
from jobs.execution.conditions import Conditions, Variable, conditions_of
from jobs.execution.masking import SECRET_WORDS
from jobs.execution.rundir import BrokenFileError
from jobs.execution.spec import FormatError
from jobs.models import Attempt

GONE = "Its run directory is not there any more, so how it was run is not known: {path}."
STARTS = {"warm": "a fork of a Python that runs", "cold": "a new process"}
HOSTS = {
    "async": ("a task of the node's host process", "then that is killed"),
    "thread": ("a thread of the node's host process", "a thread is not ended: it counts as ended at once"),
    "pooled": ("a process of the node's pool", "then KILL"),
}
NOT_YET = "Its run directory is being made."


@dataclass(frozen=True, slots=True)
class Ran:
    """`sentence`: why there is nothing else to show. `lines`: (label, text, note)."""

    sentence: str = ""
    command: str = ""
    directory: str = ""
    lines: tuple[tuple[str, str, str], ...] = ()
    variables: tuple[Variable, ...] = ()

    @property
    def secret_words(self) -> str:
        return ", ".join(SECRET_WORDS)


def ran_rows(attempt: Attempt | None) -> list[Row]:
    """One row, or none before the first attempt. Reads a file."""
    if attempt is None:
        return []
    path = path_of(attempt.instance_id, attempt.number, attempt.token)
    return [("ran", _ran(attempt, path))]


def _ran(attempt: Attempt, path: Path) -> Ran:
    try:
        found = conditions_of(path)
    except (BrokenFileError, FormatError, OSError) as broken:
        return Ran(sentence=f"How it was run cannot be read: {broken}.")
    if found is None:
        return Ran(sentence=NOT_YET if attempt.status == "starting" else GONE.format(path=path))
    return Ran(
        command=shlex.join(found.argv),
        directory=found.working_directory,
        lines=tuple(_in_host(attempt, found) if found.hosted else _lines(attempt, found)),
        variables=found.variables,
    )


def _lines(attempt: Attempt, found: Conditions) -> list[tuple[str, str, str]]:
    limit = amounts.duration(found.timeout_seconds) if found.timeout_seconds else "none"
    grace = amounts.duration(found.kill_grace_seconds)
    return [
        ("Cores held", amounts.held(attempt.cores, attempt.virtual_cores) or "none", _pinned(found)),
        ("Memory reserved", *((f"{attempt.memory_mb:,} MB", "and its limit") if attempt.memory_mb else ("none", ""))),
        ("Time limit", limit, ""),
        ("Grace", grace, "from TERM to KILL"),
        ("Log cap", amounts.size(found.log_cap_bytes), "the oldest after the first part goes first"),
        ("Nice", str(found.nice), "gives way to those with cores of their own" if attempt.virtual_cores else ""),
        *([("Disk priority", found.io_priority, "")] if found.io_priority != "normal" else []),
        *([("Most processes", f"{found.max_processes:,}", "threads counted")] if found.max_processes else []),
        *([("Largest file", amounts.size(found.max_file_bytes), "")] if found.max_file_bytes else []),
        *([("Run as user", found.run_as, "")] if found.run_as else []),
        ("Umask", f"{found.umask:04o}", ""),
        *_packages(found),
        *([("Start", found.start, found.start_note or STARTS.get(found.start, ""))] if found.start else []),
        ("Run by", "a runner of its own", "forked by the node's launcher; outlives the service"),
    ]


def _in_host(attempt: Attempt, found: Conditions) -> list[tuple[str, str, str]]:
    """What shares a process with others has little of its own."""
    run_by, after_grace = HOSTS[found.hosted]
    return [
        ("Cores held", amounts.held(attempt.cores, attempt.virtual_cores) or "none", _pinned(found)),
        ("Time limit", amounts.duration(found.timeout_seconds) if found.timeout_seconds else "none", ""),
        ("Grace", amounts.duration(found.kill_grace_seconds), after_grace),
        ("Log cap", amounts.size(found.log_cap_bytes), "the oldest after the first part goes first"),
        ("Run by", run_by, "ends with the service"),
    ]


def _packages(found: Conditions) -> list[tuple[str, str, str]]:
    """Of an environment of its own."""
    if not found.environment:
        return []
    facts = found.packages
    if facts is None:
        return [("Packages", f"environment {found.environment[:8]}", "removed since, as nothing used it")]
    built_at = datetime.fromtimestamp(facts.built_at, UTC)
    return [
        ("Python", facts.version, f"environment {found.environment[:8]}"),
        ("Packages", ", ".join(facts.requirements) or "none", f"installed at {built_at:%Y-%m-%d %H:%M} UTC"),
    ]


def _pinned(found: Conditions) -> str:
    if found.cores is None:
        return "not pinned"
    return f"all its processes pinned to {amounts.listed(found.cores)}"
