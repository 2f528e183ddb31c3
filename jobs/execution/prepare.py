"""Makes the run directory of an attempt: crash point 2.

Nothing here waits for the disk. What a power cut takes before the runner has made its claim durable, and with it the
directory, is an attempt that never ran.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from jobs.execution import moment
from jobs.execution.confinement import MEGABYTE
from jobs.execution.environment import slots
from jobs.execution.installed import ENVIRONMENTS
from jobs.execution.launch import AttemptRef, Launch
from jobs.execution.parameters import FILE_VARIABLE, in_file_only, variables_of
from jobs.execution.program import script_file
from jobs.execution.rundir import PARAMETERS, PRIVATE_DIR, SCRIPTS, SPEC, UPSTREAMS, RunDir, write_all
from jobs.execution.spec import Spec

UNPINNED_NICE = 5  # an attempt with virtual slots has no cores to itself and gives way to those that have


def path_of(runs: Path, ref: AttemptRef) -> Path:
    return runs / str(ref.instance_id) / f"{ref.attempt}-{ref.token[:8]}"


def prepare(
    runs: Path,
    launch: Launch,
    env: Mapping[str, str],
    python: str,
    cgroups: Mapping[str, str] | None = None,
    why_cold: str = "",
) -> Path:
    """Make the directory with all that the runner needs. OSError if the disk does not let us. python: the service's
    own. cgroups, why_cold: see Spec.
    """
    path = path_of(runs, launch.ref)
    set_aside(path)
    path.parent.mkdir(mode=PRIVATE_DIR, exist_ok=True)
    path.mkdir(mode=PRIVATE_DIR)
    with RunDir(str(path)) as rundir:
        takes_file = launch.takes_parameters or launch.kind == "callable"
        if launch.kind == "script" or takes_file or launch.upstream_results:
            rundir.make_dir(SCRIPTS)
        if takes_file:
            write_file(rundir, PARAMETERS, json.dumps(launch.parameters, ensure_ascii=False))
            env = {**env, **variables_of(apart(launch)), FILE_VARIABLE: f"{path}/{PARAMETERS}"}
        body = write_script(rundir, launch.body) if launch.kind == "script" else launch.body
        if launch.upstream_results:
            write_file(rundir, UPSTREAMS, launch.upstream_results)
            env = {**env, "ROTA_UPSTREAM_RESULTS": f"{path}/{UPSTREAMS}"}
        spec = spec_of(launch, body, env, python, cgroups or {}, why_cold)
        rundir.write_json(SPEC, spec.to_json())
    if spec.run_as:
        open_way(path)
    return path


def apart(launch: Launch) -> Mapping[str, Any]:
    """The parameters that have a variable each; those of a callable are its arguments."""
    return {} if launch.kind == "callable" else launch.parameters


def open_way(path: Path) -> None:
    """Let other users go through the folders that lead to run directory `path`, from the data folder on, whose other
    entries are closed to them first, but for the environments. They see no names in any of these.
    """
    data, runs, instance = path.parents[2], path.parents[1], path.parent
    kept = (runs, data / ENVIRONMENTS)
    for entry in data.iterdir():
        with suppress(FileNotFoundError):  # SQLite's journals come and go
            if entry not in kept and not entry.is_symlink() and (mode := entry.stat().st_mode) & 0o077:
                entry.chmod(mode & 0o700)
    for folder in (data, runs, instance):
        folder.chmod(folder.stat().st_mode | 0o011)


def set_aside(path: Path) -> None:
    """Rename a directory in which the attempt never ran. It is not removed: a late runner may have it open, and must
    go on finding the claim in it.
    """
    number = 1
    while path.exists():
        aside = path.with_name(f"{path.name}.void{number}")
        if not aside.exists():
            path.rename(aside)
        number += 1


def spec_of(
    launch: Launch, body: str, env: Mapping[str, str], python: str, cgroups: Mapping[str, str], why_cold: str
) -> Spec:
    now, run = moment.now(), launch.run
    return Spec(
        token=launch.token,
        instance_id=launch.instance_id,
        attempt=launch.attempt,
        kind=launch.kind,
        body=body,
        interpreter=launch.interpreter or python,
        environment=launch.environment,
        preface=list(launch.preface),
        env=dict(env),
        asked_at=now,
        cores=cores_to_pin(launch),
        start=run.start,
        why_cold=why_cold,
        nice=min(19, run.nice + (UNPINNED_NICE if launch.allocation.virtual else 0)),
        io_priority=run.io_priority,
        umask=int(run.umask, 8),
        run_as=run.run_as,
        secrets={one.variable: one.name for one in launch.secrets},
        working_directory=run.working_directory,
        memory_limit_bytes=launch.memory_limit_mb * MEGABYTE,
        cpu_slots=slots(launch),
        max_processes=run.max_processes,
        max_file_bytes=run.max_file_mb * MEGABYTE if run.max_file_mb else None,
        timeout_seconds=launch.timeout_seconds,
        kill_grace_seconds=launch.kill_grace_seconds,
        start_before=now.after_wall(launch.start_before.timestamp()) if launch.start_before else None,
        log_cap_bytes=launch.log_cap_bytes,
        output_cap_bytes=launch.output_cap_bytes,
        min_free_disk_bytes=launch.min_free_disk_bytes,
        keep_workspace=launch.keep_workspace,
        cleanup_command=run.cleanup_command,
        cleanup_after=list(run.cleanup_after),
        cleanup_timeout_seconds=run.cleanup_timeout_seconds,
        cgroups=dict(cgroups),
        notices=in_file_only(apart(launch)),
        hosted=launch.hosted,
    )


def cores_to_pin(launch: Launch) -> list[int] | None:
    """None for what is not to be pinned, as what shares a process with others is not, and for cores that are
    bookkeeping only: `--cores 8` on a machine of two.
    """
    if launch.hosted in ("async", "thread"):
        return None
    cores = launch.allocation.cores
    there = launch.allocation.pinned and os.sched_getaffinity(0).issuperset(cores)
    return list(cores) if there else None


def write_script(rundir: RunDir, text: str) -> str:
    """Write the script and return the name of its file, by which the runner sees how to run it."""
    name = script_file(text)
    write_file(rundir, f"{SCRIPTS}/{name}", text)
    return name


def write_file(rundir: RunDir, name: str, text: str) -> None:
    fd = rundir.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        write_all(fd, text.encode("utf-8", "surrogateescape"))
        os.fchmod(fd, PRIVATE_DIR)  # may be executed
    finally:
        os.close(fd)
