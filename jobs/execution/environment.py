"""The environment of a job, built from nothing: what the service has in its own, secrets above all, is never in it.

Later wins: the base, the node's environment file, the job's own variables, the facts. docs/running.md lists them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from jobs.execution.launch import Launch
from jobs.execution.limits import own_names
from jobs.execution.masking import SECRET_NAME
from jobs.execution.secrets import GivenSecret
from jobs.execution.tree import TOKEN_NAME

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NODE_FILE = "environment"
INTERPRETER = {"LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}  # what a Python reads when it starts, warm ones too


class EnvironmentFileError(ValueError):
    """A line of the node's environment file that sets no variable."""

    def __init__(self, file: Path, number: int, line: str) -> None:
        super().__init__(f"{file}, line {number}: found {line[:40]!r}, expected NAME=value, a comment or nothing")


def environment_of(launch: Launch, node: str, node_file: Path) -> dict[str, str]:
    """EnvironmentFileError if the node's file cannot be understood."""
    project = project_of(launch) if launch.kind == "callable" else {}
    env = {**base(launch), **read_file(node_file), **project, **launch.env, **facts(launch, node)}
    if launch.environment:
        env |= {"VIRTUAL_ENV": launch.environment, "PATH": f"{launch.environment}/bin:{env['PATH']}"}
    return env


def project_of(launch: Launch) -> dict[str, str]:
    """What a process needs to load the project, of which the callable is a part; but for what may be secret."""
    settings = {name: value for name, value in settings_of_project().items() if not is_secret(name)}
    return {**settings, "ROTA_CALLABLE": launch.body, "ROTA_PROJECT_PATH": os.pathsep.join(filter(None, sys.path))}


def project_secrets() -> tuple[GivenSecret, ...]:
    """The rest of it, which goes the way of secrets: in no file, and masked in what it prints."""
    return tuple(GivenSecret(name, value) for name, value in settings_of_project().items() if value and is_secret(name))


def settings_of_project() -> dict[str, str]:
    names = ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "REDIS_URL")
    return {name: value for name, value in os.environ.items() if name in names or name.startswith("ROTA_")}


def is_secret(name: str) -> bool:
    return name.endswith("_URL") or bool(SECRET_NAME.search(name))


def base(launch: Launch) -> dict[str, str]:
    cores = str(max(1, slots(launch)))
    return {
        "PATH": PATH,
        **own_names(),
        "OMP_NUM_THREADS": cores,
        "PYTHON_CPU_COUNT": cores,
        **INTERPRETER,
    }


def facts(launch: Launch, node: str) -> dict[str, str]:
    memory = {"MEMORY_LIMIT_MB": str(launch.memory_limit_mb)} if launch.memory_limit_mb else {}
    return memory | {
        "ROTA_INSTANCE_ID": str(launch.instance_id),
        "ROTA_JOB_ID": str(launch.job_id),
        "ROTA_JOB_NAME": launch.job_name,
        "ROTA_ATTEMPT": str(launch.attempt),
        "ROTA_LOGICAL_AT": launch.logical_at.isoformat(),
        "ROTA_NODE": node,
        "ROTA_FENCE": str(launch.attempt if launch.fence is None else launch.fence),
        "ROTA_CORES": ",".join(map(str, launch.allocation.cores)),
        TOKEN_NAME: launch.token,
        "JOB_ID": str(launch.job_id),
        "JOB_INSTANCE_ID": str(launch.instance_id),
        "CPU_LIMIT": str(slots(launch)),
    }


def slots(launch: Launch) -> int:
    return len(launch.allocation.cores) + launch.allocation.virtual


def read_file(file: Path) -> dict[str, str]:
    """NAME=value lines; quotes around a value are taken off, nothing in it is expanded. No file is an empty one."""
    try:
        lines = file.read_text("utf-8", "surrogateescape").splitlines()
    except FileNotFoundError:
        return {}
    found = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.removeprefix("export ").partition("=")
        if not equals or not name.isidentifier():
            raise EnvironmentFileError(file, number, line)
        quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "'\""
        found[name] = value[1:-1] if quoted else value
    return found
