"""Run directories as a runner leaves them."""

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

from jobs.execution.logwriter import LogWriter
from jobs.execution.rundir import RESULT, RunDir


def write_log(
    instance_id: int, number: int, token: str, reads: Iterable[tuple[int, bytes]], *, complete: bool, cap: int = 2**20
) -> Path:
    """`reads`: (stream, bytes) in order. `complete`: with the result that says so."""
    path: Path = settings.DATA_DIR / "runs" / str(instance_id) / f"{number}-{token[:8]}"
    path.mkdir(parents=True)
    with RunDir(str(path)) as rundir:
        writer = LogWriter(rundir, cap)
        for stream, data in reads:
            writer.write(stream, data)
        writer.close()
        if complete:
            rundir.write_json(RESULT, {"format": 1, "log": {"bytes": writer.end}})
    return path
