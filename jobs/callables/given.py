"""What a callable in a host is given, and gives, by its run directory."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from jobs.execution.rundir import OUTPUT, PARAMETERS, UPSTREAMS, RunDir


def parameters_in(rundir: RunDir) -> dict[str, Any]:
    return read(rundir, PARAMETERS)


def upstreams_in(rundir: RunDir) -> dict[str, Any]:
    return read(rundir, UPSTREAMS) if rundir.has(UPSTREAMS) else {}


def output_in(rundir: RunDir) -> Path:
    with suppress(FileExistsError):
        rundir.make_dir(OUTPUT)
    return Path(rundir.path, OUTPUT)


def read(rundir: RunDir, name: str) -> dict[str, Any]:
    """OSError or ValueError if it cannot be read."""
    with os.fdopen(rundir.open(name, os.O_RDONLY), "rb") as file:
        return dict(json.load(file))
