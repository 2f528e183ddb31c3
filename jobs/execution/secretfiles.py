"""Secrets that a job gets as files: in a folder of its own in memory, gone when the attempt has ended.

The folder is /dev/shm/rota-<data folder>-<instance>-<attempt>-<token>. The runner makes and removes it. What a killed
runner left is removed when its attempt is settled, and at the next start of the service. Standard library only.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress

from jobs.execution.claim import has_runner
from jobs.execution.foldertree import remove_tree
from jobs.execution.limits import User
from jobs.execution.program import StartError, explained
from jobs.execution.rundir import PRIVATE_DIR, write_all
from jobs.execution.secrets import GivenSecret

MEMORY = "/dev/shm"  # noqa: S108 the point is that it is in memory only
READ_ONLY = 0o400


def folder_of(path: str) -> str:
    """For the attempt in run directory `path`. FileNotFoundError if there are no run directories at all."""
    runs, instance, attempt = path.rsplit("/", 2)
    return f"{MEMORY}/{prefix_of(runs)}{instance}-{attempt}"


def prefix_of(runs: str) -> str:
    """Several services of one machine have the same memory: by this each knows its own."""
    found = os.stat(runs)  # noqa: PTH116 pathlib costs start-up
    return f"rota-{found.st_dev:x}.{found.st_ino:x}-"


def give(secrets: Iterable[GivenSecret], path: str, user: User | None) -> dict[str, str]:
    """Make the files; returns where each is, by its variable. StartError if that cannot be."""
    wanted = [one for one in secrets if one.as_file]
    if not wanted:
        return {}
    folder = folder_of(path)
    try:
        os.mkdir(folder, PRIVATE_DIR)  # noqa: PTH102 pathlib costs start-up
        files = {one.variable: write(f"{folder}/{one.variable}", one.value, user) for one in wanted}
        if user:
            os.chown(folder, user.uid, user.gid)
    except FileNotFoundError:
        named = ", ".join(one.variable for one in wanted)
        raise StartError(
            MEMORY, f"is not there, and secrets are given as files ({named}) in memory only: give them as variables"
        ) from None
    except OSError as error:
        raise explained(folder, error) from error
    return files


def write(file: str, value: str, user: User | None) -> str:
    fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, READ_ONLY)
    try:
        write_all(fd, value.encode())
        if user:
            os.fchown(fd, user.uid, user.gid)
    finally:
        os.close(fd)
    return file


def take_back(path: str) -> None:
    """Remove the files of the attempt in run directory `path`, if it has any."""
    with suppress(FileNotFoundError):
        remove(folder_of(path))


def sweep(runs: str) -> None:
    """Remove the files of all attempts in `runs` whose runner is not alive."""
    prefix = prefix_of(runs)
    with suppress(FileNotFoundError):
        for name in os.listdir(MEMORY):  # noqa: PTH208 pathlib costs start-up
            instance, _, attempt = name.removeprefix(prefix).partition("-")
            if name.startswith(prefix) and not has_runner(f"{runs}/{instance}/{attempt}"):
                remove(f"{MEMORY}/{name}")


def remove(folder: str) -> None:
    """What a job has made of it may forbid that: then it is said, and the next start of the service tries again."""
    try:
        remove_tree(folder)
    except FileNotFoundError:  # most attempts have none
        return
    except OSError as error:
        print(f"{folder}: the secrets in it are not removed: {error.strerror}", file=sys.stderr)  # noqa: T201 a log
