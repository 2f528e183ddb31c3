"""How an attempt was run: what its runner gave to the program, read from the run directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs.execution.installed import Facts, facts_in
from jobs.execution.limits import user_of
from jobs.execution.masking import MASK, masked
from jobs.execution.program import StartError, program_of
from jobs.execution.rundir import SPEC, STARTED, WORK, RunDir, variables_of
from jobs.execution.spec import FormatError, Spec


@dataclass(frozen=True, slots=True)
class Variable:
    """`masked`: the value, or a password in it, is not told. `secret`: the name of the secret that it is."""

    name: str
    value: str
    masked: bool = False
    secret: str = ""


@dataclass(frozen=True, slots=True)
class Conditions:
    """argv: what was exec'd. cores: those that the whole tree is pinned to, None if it is not. Durations in seconds.

    start: "warm" or "cold", as it was started, "" as long as it is not; start_note: why cold, where warm was wished.
    run_as: "" for the service's own user. environment: the key of the one that it runs in, "" for the service's own
    Python; packages: what that has, None if it has been removed since.
    """

    argv: tuple[str, ...]
    working_directory: str
    variables: tuple[Variable, ...]
    cores: tuple[int, ...] | None
    nice: int
    umask: int
    timeout_seconds: float | None
    kill_grace_seconds: float
    log_cap_bytes: int
    keep_workspace: bool
    start: str
    start_note: str
    run_as: str
    io_priority: str
    max_processes: int | None
    max_file_bytes: int | None
    environment: str = ""
    packages: Facts | None = None
    hosted: str = ""


def conditions_of(path: Path | str) -> Conditions | None:
    """None if the run directory is gone, or was never made. BrokenFileError, FormatError if it cannot be read."""
    try:
        with RunDir(str(path)) as rundir:
            data = rundir.read_json(SPEC)
            started = rundir.read_json(STARTED) or {}
    except FileNotFoundError:
        return None
    if data is None:
        return None
    try:
        return _of(Spec.from_json(data), started, str(path))
    except (TypeError, AttributeError) as error:  # a job may have written there
        raise FormatError(SPEC, f"what is no spec ({error})") from error


def _of(spec: Spec, started: Mapping[str, Any], path: str) -> Conditions:
    workspace = f"{path}/{WORK}"
    form = str(started.get("form", ""))
    try:
        argv = [spec.body] if spec.hosted else program_of(spec, path, form).argv
    except StartError:  # its file is gone, by which it was decided how to run it
        argv = [spec.body]
    given = {} if spec.hosted else _environment(spec, path)
    return Conditions(
        argv=tuple(map(_text, argv)),
        working_directory="" if spec.hosted else _text(spec.working_directory or workspace),
        variables=tuple(sorted(_variables(given, spec.secrets), key=lambda variable: variable.name)),
        cores=None if spec.cores is None else tuple(spec.cores),
        nice=spec.nice,
        umask=spec.umask,
        timeout_seconds=spec.timeout_seconds,
        kill_grace_seconds=spec.kill_grace_seconds,
        log_cap_bytes=spec.log_cap_bytes,
        keep_workspace=spec.keep_workspace,
        start=_text(str(started.get("start", ""))),
        start_note=_text(str(started.get("note", ""))),
        run_as=spec.run_as,
        io_priority=spec.io_priority,
        max_processes=spec.max_processes,
        max_file_bytes=spec.max_file_bytes,
        hosted=spec.hosted,
        environment=Path(spec.environment).name,
        packages=facts_in(Path(spec.environment)) if spec.environment else None,
    )


def _environment(spec: Spec, path: str) -> dict[str, str]:
    given = {**spec.env, **variables_of(path)}
    try:
        user = user_of(spec.run_as)
    except StartError:  # it was not started, or its user is known to another node only
        return given
    return user.environment(given) if user else given


def _variables(given: Mapping[str, str], secrets: Mapping[str, str]) -> Iterator[Variable]:
    for name in given.keys() - secrets.keys():
        yield _variable(name, given[name])
    for name, secret in secrets.items():
        yield Variable(_text(name), MASK, masked=True, secret=_text(secret))


def _variable(name: str, value: str) -> Variable:
    shown = masked(name, value)
    return Variable(_text(name), _text(shown), masked=shown != value)


def _text(given: str) -> str:
    """Bytes that are no text, as the operating system allows in arguments and variables, in escapes."""
    return given.encode("utf-8", "backslashreplace").decode()
