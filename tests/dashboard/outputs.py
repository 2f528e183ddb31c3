"""Logs of attempts as a runner writes them."""

from contextlib import contextmanager
from pathlib import Path

from jobs.execution.logwriter import STDOUT, LogWriter
from jobs.execution.rundir import RunDir


@contextmanager
def writing(path: Path, cap_bytes: int = 50_000_000):
    """Gives what writes bytes to the log of the run directory `path`, as a runner would."""
    path.mkdir(parents=True, exist_ok=True)
    with RunDir(str(path)) as rundir:
        writer = LogWriter(rundir, cap_bytes)
        try:
            yield lambda data: writer.write(STDOUT, data)
        finally:
            writer.close()


def printed(path: Path, data: bytes) -> None:
    with writing(path) as write:
        write(data)


def finish(path: Path, size: int) -> None:
    with RunDir(str(path)) as rundir:
        rundir.write_json("result.json", {"log": {"bytes": size}})
