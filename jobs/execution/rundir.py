"""The files that service and runner agree on, in <data folder>/runs/<instance>/<attempt>-<token>/.

    spec.json     how to run it; written by the service before the launcher is asked
    job/          the script, if the job is one, and the values of its parameters
    claim         who may act for the attempt: see claim.py
    started.json  process id of the job, when it started
    cancel        its presence is the wish to end the attempt, for a runner that begins later; one that is alive is told
                  by its socket, or by CANCEL_SIGNAL if the service is not the one that asked for it
    log/          what the job printed, if anything: see log.py
    samples       cores and memory that it used, over its time: see samples.py
    progress.json how far it says to be: see markers.py
    output/       the files that it wants kept: see outputs.py
    result.json   how it ended; its space is taken at the start, as result.json.tmp
    work/         the job's workspace

A directory is held open by its descriptor: one that was removed and made again under the same name is not it any
more, which is what keeps a late runner out of the new one. A job may put anything into the one that it runs in: nothing
here waits for a FIFO, follows a link or reads without end. Standard library only.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
from typing import Any, Self

SPEC, STARTED, RESULT, PROGRESS = "spec.json", "started.json", "result.json", "progress.json"
CLAIM, CANCEL = "claim", "cancel"
SCRIPTS, LOG, WORK, SAMPLES, OUTPUT = "job", "log", "work", "samples", "output"
PARAMETERS, UPSTREAMS = f"{SCRIPTS}/parameters.json", f"{SCRIPTS}/upstreams.json"
PROGRESS_FILE, RESULT_FILE = ".rota-progress", ".rota-result"  # in the workspace, written by the job
ERROR_FILE = ".rota-error"  # there too, by a callable: see verdict.py
CANCEL_SIGNAL = signal.SIGUSR1  # not TERM, which everybody gets when the machine is shut down
RETIRE_SIGNAL = signal.SIGURG  # to a runner: end after this attempt. One that a runner of an earlier version ignores
MOST_PATH_BYTES = 8192  # a path has at most 4096
PRIVATE_FILE, PRIVATE_DIR = 0o600, 0o700
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
MAX_FILE_BYTES = 1 << 20
MAX_SPEC_BYTES = 16 << 20  # an environment as large as exec takes, written in escapes
NOT_ORDINARY = {errno.ELOOP: "a symbolic link", errno.ENXIO: "a FIFO or a socket", errno.EISDIR: "a directory",
                errno.EACCES: "what its owner may not open"}  # fmt: skip


def variables_of(path: str) -> dict[str, str]:
    """What a job is told of the run directory `path`, as variables."""
    work = f"{path}/{WORK}"
    return {
        "ROTA_WORKSPACE": work,
        "ROTA_OUTPUT": f"{path}/{OUTPUT}",
        "ROTA_PROGRESS_FILE": f"{work}/{PROGRESS_FILE}",
        "ROTA_RESULT_FILE": f"{work}/{RESULT_FILE}",
    }


class BrokenFileError(ValueError):
    """A file of a run directory that is there but does not hold what it should."""

    def __init__(self, path: str, found: str, expected: str = "a JSON object") -> None:
        super().__init__(f"{path} holds {found}, expected {expected}")


class NotAFileError(BrokenFileError):
    """A name of a run directory under which there is something else than an ordinary file."""

    def __init__(self, path: str, found: str) -> None:
        super().__init__(path, found, "an ordinary file")


class RunDir:
    """One run directory, held open. `path` is for people and for exec; files are reached through `fd`."""

    def __init__(self, path: str) -> None:
        """FileNotFoundError if it is not there (any more), or something else than a directory is."""
        self.path = path
        self.fd = open_directory(path)

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
        """Without waiting. NotAFileError for anything else than a file, or, if `flags` say so, a directory."""
        always = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # the last for a FIFO, which opens when others please
        try:
            fd = os.open(name, flags | always, PRIVATE_FILE, dir_fd=self.fd)
        except OSError as error:
            if error.errno in NOT_ORDINARY and not flags & os.O_DIRECTORY:
                raise NotAFileError(f"{self.path}/{name}", NOT_ORDINARY[error.errno]) from error
            raise
        mode = os.fstat(fd).st_mode
        if not (stat.S_ISREG(mode) or flags & os.O_DIRECTORY):
            os.close(fd)
            raise NotAFileError(f"{self.path}/{name}", "a directory" if stat.S_ISDIR(mode) else "a FIFO or a device")
        return fd

    def make_dir(self, name: str) -> None:
        os.mkdir(name, PRIVATE_DIR, dir_fd=self.fd)

    def read_json(self, name: str) -> dict[str, Any] | None:
        """The object in the file, None if there is no file. BrokenFileError if it is not a JSON object."""
        try:
            fd = self.open(name, os.O_RDONLY)
        except FileNotFoundError:
            return None
        limit = MAX_SPEC_BYTES if name == SPEC else MAX_FILE_BYTES
        with os.fdopen(fd, "rb") as file:
            content = file.read(limit + 1)
        if len(content) > limit:
            raise BrokenFileError(f"{self.path}/{name}", f"more than {limit} bytes")
        try:
            data = json.loads(content)
        except (ValueError, RecursionError) as error:  # the latter for brackets nested without end
            raise BrokenFileError(f"{self.path}/{name}", f"{content[:40]!r}") from error
        if not isinstance(data, dict):
            raise BrokenFileError(f"{self.path}/{name}", type(data).__name__)
        return data

    def write_json(self, name: str, data: dict[str, Any], *, durable: bool = False) -> None:
        """Whole or not at all: written beside and renamed. Durable: on the disk when this returns."""
        self.write(name, json.dumps(data).encode(), durable=durable)

    def write(self, name: str, content: bytes, *, durable: bool = False) -> None:
        beside = f"{name}.tmp"
        take_back(self.fd)
        fd = self._open_beside(beside)
        try:
            write_all(fd, content)
            os.ftruncate(fd, len(content))
            try:
                self._rename(beside, name)
            except IsADirectoryError:
                self.set_aside(name)
                self._rename(beside, name)
            if durable:
                sync(fd)
        finally:
            os.close(fd)

    def _open_beside(self, name: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT  # not O_TRUNC: that would give back space that was kept
        try:
            return self.open(name, flags)
        except NotAFileError:
            self.set_aside(name)
            return self.open(name, flags)

    def set_aside(self, name: str) -> None:
        """Out of the way with what a job has put where our file belongs. Kept, as <name>.void1 and so on."""
        number = 1
        while self.has(aside := f"{name}.void{number}"):
            number += 1
        self._rename(name, aside)

    def _rename(self, name: str, other: str) -> None:
        os.rename(name, other, src_dir_fd=self.fd, dst_dir_fd=self.fd)


def open_directory(path: str) -> int:
    try:
        fd = open_as_directory(path)
    except NotADirectoryError as error:
        raise FileNotFoundError(errno.ENOENT, "no directory (any more)", path) from error
    except PermissionError:  # a job may have taken its owner's right, and the owner takes it back
        os.chmod(path, PRIVATE_DIR)  # noqa: PTH101 pathlib costs start-up
        fd = open_as_directory(path)
    try:
        take_back(fd)
    except OSError:
        os.close(fd)
        raise
    return fd


def open_inner(name: str, at: int) -> int:
    """Descriptor of a folder in `at`. The right that a job has taken from its owner, the owner takes back."""
    try:
        fd = os.open(name, FOLDER, dir_fd=at)
    except PermissionError:
        place = os.open(name, FOLDER | os.O_PATH, dir_fd=at)
        try:
            os.chmod(f"/proc/self/fd/{place}", PRIVATE_DIR)  # noqa: PTH101 by its name, it could be a link by now
        finally:
            os.close(place)
        fd = os.open(name, FOLDER, dir_fd=at)
    take_back(fd)
    return fd


def take_back(fd: int) -> None:
    """Give its owner the right to the directory again, if a job has taken it."""
    found = os.fstat(fd)
    if found.st_uid == os.geteuid() and found.st_mode & PRIVATE_DIR != PRIVATE_DIR:
        os.fchmod(fd, PRIVATE_DIR)


def open_as_directory(path: str) -> int:
    return os.open(path, FOLDER)


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
