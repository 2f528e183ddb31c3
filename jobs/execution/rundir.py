"""The files that service and runner agree on, in <data folder>/runs/<instance>/<attempt>-<token>/.

    spec.json     how to run it; written by the service before the launcher is asked
    job/          the script, if the job is one
    claim         who may act for the attempt: see claim.py
    started.json  process id of the job, when it started
    cancel        its presence is the wish to end the attempt, for which the runner looks when it gets a SIGTERM;
                  where it cannot be written, CANCEL_SIGNAL says the same to a runner that is alive
    log/          what the job printed, if anything: see log.py
    result.json   how it ended; its space is taken at the start, as result.json.tmp
    work/         the job's workspace

A directory is held open by its descriptor: one that was removed and made again under the same name is not it any
more, which is what keeps a late runner out of the new one. Standard library only.
"""

from __future__ import annotations

import json
import os
import signal
from typing import Any, Self

SPEC, STARTED, RESULT = "spec.json", "started.json", "result.json"
CLAIM, CANCEL = "claim", "cancel"
SCRIPTS, LOG, WORK = "job", "log", "work"
CANCEL_SIGNAL = signal.SIGUSR1  # not TERM, which everybody gets when the machine is shut down
PRIVATE_FILE, PRIVATE_DIR = 0o600, 0o700


class BrokenFileError(ValueError):
    """A file of a run directory that is there but does not hold what it should."""

    def __init__(self, path: str, found: str) -> None:
        super().__init__(f"{path} holds {found}, expected a JSON object")


class RunDir:
    """One run directory, held open. `path` is for people and for exec; files are reached through `fd`."""

    def __init__(self, path: str) -> None:
        """FileNotFoundError if it is not there (any more)."""
        self.path = path
        self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def close(self) -> None:
        os.close(self.fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def has(self, name: str) -> bool:
        try:
            os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def open(self, name: str, flags: int) -> int:
        return os.open(name, flags | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE, dir_fd=self.fd)

    def make_dir(self, name: str) -> None:
        os.mkdir(name, PRIVATE_DIR, dir_fd=self.fd)

    def read_json(self, name: str) -> dict[str, Any] | None:
        """The object in the file, None if there is no file. BrokenFileError if it is not a JSON object."""
        try:
            fd = self.open(name, os.O_RDONLY)
        except FileNotFoundError:
            return None
        with os.fdopen(fd, "rb") as file:
            content = file.read()
        try:
            data = json.loads(content)
        except ValueError as error:
            raise BrokenFileError(f"{self.path}/{name}", f"{content[:40]!r}") from error
        if not isinstance(data, dict):
            raise BrokenFileError(f"{self.path}/{name}", type(data).__name__)
        return data

    def write_json(self, name: str, data: dict[str, Any], *, durable: bool = False) -> None:
        """Whole or not at all: written beside and renamed. Durable: on the disk when this returns."""
        self.write(name, json.dumps(data).encode(), durable=durable)

    def write(self, name: str, content: bytes, *, durable: bool = False) -> None:
        beside = f"{name}.tmp"
        fd = self.open(beside, os.O_WRONLY | os.O_CREAT)  # not O_TRUNC: that would give back space that was kept
        try:
            write_all(fd, content)
            os.ftruncate(fd, len(content))
            os.rename(beside, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
            if durable:
                sync(fd)
        finally:
            os.close(fd)


def sync(fd: int) -> None:
    """Have the file on the disk, under its name. One call, since each waits for the disk: ext4, XFS and Btrfs keep the
    order of what was done to names, so with a file's last change comes all that led to it, its directories too.
    """
    os.fsync(fd)


def write_all(fd: int, content: bytes) -> None:
    """os.write may take a part only, which on a full disk is the rule."""
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
