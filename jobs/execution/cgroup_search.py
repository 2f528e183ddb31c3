"""Where on this machine cgroups may be made for attempts: found out by making one and moving a process into it.

Whether that is allowed depends on the kernel, the container, systemd and the user, each of which may forbid it in its
own way, so that only a trial tells.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from jobs.execution import cgroups
from jobs.execution.cgroups import CPU, CPUSET, KILL, MEMORY, PIDS

CONTROLLERS = (CPUSET, CPU, MEMORY, PIDS, KILL)


@dataclass(frozen=True, slots=True)
class Found:
    """By controller: in which folder cgroups may be made (`tops`), or why in none (`refusals`)."""

    tops: dict[str, str]
    refusals: dict[str, str]


class Hierarchy(NamedTuple):
    """A cgroup file system that is mounted. `controllers`: empty for version 2, which says itself what it has."""

    mount: str
    controllers: tuple[str, ...]


@cache
def found() -> Found:
    """Tried once in the life of a process. A kernel without cgroups does not have the second file."""
    return search(cgroups.read("/proc/self/mountinfo"), cgroups.read("/proc/self/cgroup"))


def search(mountinfo: str, membership: str) -> Found:
    tops: dict[str, str] = {}
    refusals: dict[str, str] = {}
    mounted = hierarchies(mountinfo)
    for controller in CONTROLLERS:
        refusals[controller] = "no cgroup file system with it is mounted"
        for top in candidates(mounted, membership, controller):
            try:
                try_out(top, controller)
            except OSError as error:
                refusals[controller] = f"{top}: {error.strerror}"
            else:
                tops[controller] = top
                del refusals[controller]
                break
    return Found(tops, refusals)


def hierarchies(mountinfo: str) -> list[Hierarchy]:
    mounted = []
    for line in mountinfo.splitlines():
        words, _, rest = line.partition(" - ")
        kind, _, options = rest.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            names = tuple(options.split(",")) if kind == "cgroup" else ()
            mounted.append(Hierarchy(words.split()[4], names))
    return mounted


def candidates(mounted: list[Hierarchy], membership: str, controller: str) -> list[str]:
    """Folders to try, best first. Of version 2 the one above our own, if it was delegated to us: cgroups cannot be
    made where processes are. It is told from the slices of others by its name.
    """
    tops = []
    for hierarchy in mounted:
        if controller in hierarchy.controllers:
            tops.append(hierarchy.mount)
        elif not hierarchy.controllers:
            own = next((line[3:] for line in membership.splitlines() if line.startswith("0::")), "/")
            above = str(Path(own).parent)
            if above != "/" and not above.endswith(".slice"):
                tops.append(hierarchy.mount + above)
            tops.append(hierarchy.mount)
    return [top for top in tops if offers(top, controller)]


def offers(top: str, controller: str) -> bool:
    of_v2 = [KILL, *cgroups.read(f"{top}/cgroup.controllers").split()]
    return not cgroups.is_v2(top) or controller in of_v2


def try_out(top: str, controller: str) -> None:
    """Make a cgroup with a limit and have a process in it. OSError if any of it is forbidden."""
    base, name = f"{top}/rota-try-{os.getpid()}", "try"
    try:
        cgroups.make_base(base, controller)
        folder = cgroups.make(base, name, controller, tried_amount(controller))
        if controller == KILL and not Path(folder, "cgroup.kill").exists():
            raise OSError(0, "this kernel cannot kill a cgroup (Linux 5.14 can)")
        with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
            cgroups.take_in(folder, [process.pid])
    finally:
        cgroups.remove({controller: base}, name)
        with suppress(OSError):
            Path(base).rmdir()


def tried_amount(controller: str) -> str:
    core = str(min(os.sched_getaffinity(0)))
    return {CPUSET: core, CPU: "1", MEMORY: str(1 << 30), PIDS: "100", KILL: ""}[controller]


# --- The folders of one node ---


def bases(data_dir: Path) -> dict[str, str]:
    """By controller the folder for the attempts of the node with this data folder."""
    mark = hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:12]
    return {controller: f"{top}/rota-{mark}" for controller, top in found().tops.items()}


def make_bases(of: dict[str, str]) -> None:
    """Before there are runners, two of which might each take the other's for finished. If one cannot be made any more,
    those say so.
    """
    for controller, base in of.items():
        with suppress(OSError):
            cgroups.make_base(base, controller)


def sweep(of: dict[str, str]) -> None:
    """Remove what attempts left whose runner was killed, and what holds them all, as far as nothing lives in it."""
    for base in map(Path, dict.fromkeys(of.values())):
        with suppress(OSError):
            for left in [entry for entry in base.iterdir() if entry.is_dir()]:
                with suppress(OSError):
                    left.rmdir()
            base.rmdir()
