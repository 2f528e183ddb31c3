"""What service and runner tell each other about one attempt: the spec goes in, the result comes out, both as JSON.

Standard library only: the runner reads one and writes the other, and imports nothing else of this project.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from jobs.execution.markers import Unclear, result_of
from jobs.execution.moment import Moment

FORMAT = 1
JSON_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,), "int": (int,), "float": (int, float), "bool": (bool,), "dict[str, Any]": (dict,),
    "None": (type(None),),
}  # fmt: skip
START_METHODS = ("", "cold", "warm")
LARGEST = {"exit_code": 1 << 31, "signal": 1 << 15, "descendants_ended": 1 << 31}  # what the store has room for


class FormatError(ValueError):
    """A file of a run directory that this version cannot read."""

    def __init__(self, file: str, found: str) -> None:
        super().__init__(
            f"{file} has {found}, this version reads format {FORMAT}: let attempts of another version end under it"
        )


@dataclass(frozen=True, slots=True)
class Spec:
    """How to run one attempt. Durations are seconds, sizes bytes.

    kind: "script" (`body` is the name of its file in the run directory's job/), "script_path" (`body` is an absolute
    path), "command" (`body` is a shell command) or "callable" (`body` is its name). hosted: it is not for a runner but
    for a host, in this way: "async", "thread" or "pooled". cores: ids to pin the whole tree to, or None.
    working_directory: absolute, or "" for the attempt's own workspace. start_before: the runner starts nothing after
    this moment. environment: folder of the one that the interpreter belongs to, "" for the service's own. preface: what
    its log begins with.
    start: "cold" (a Python of its own), "warm" (a fork of the launcher, where that may be) or "auto". why_cold: why no
    warm launcher was asked, where that was wished.
    memory_limit_bytes, cpu_slots: what the whole tree may use, 0 for as much as there is. io_priority: "normal", "low"
    (the last of the ordinary) or "idle" (only when nobody else wants the disk). max_processes: of the whole tree,
    threads counted. max_file_bytes: of each file that it writes. run_as: name of the user to run it as, where the
    service is root. secrets: by variable the name of the secret that it has; never a value. cgroups: by controller the
    folder in which the attempt may have a cgroup, see cgroups.py. notices: said in the log before the job starts.
    """

    token: str
    instance_id: int
    attempt: int
    kind: str
    body: str
    interpreter: str
    env: dict[str, str]
    asked_at: Moment
    cores: list[int] | None = None
    nice: int = 0
    umask: int = 0o022
    working_directory: str = ""
    timeout_seconds: float | None = None
    kill_grace_seconds: float = 10.0
    start_before: Moment | None = None
    log_cap_bytes: int = 50 * 1024 * 1024
    output_cap_bytes: int = 100 * 1024 * 1024
    min_free_disk_bytes: int = 0
    keep_workspace: bool = False
    cleanup_command: str = ""
    cleanup_after: list[str] = field(default_factory=list)
    cleanup_timeout_seconds: float = 60.0
    environment: str = ""
    preface: list[str] = field(default_factory=list)
    start: str = "auto"
    why_cold: str = ""
    memory_limit_bytes: int = 0
    cpu_slots: int = 0
    io_priority: str = "normal"
    max_processes: int | None = None
    max_file_bytes: int | None = None
    run_as: str = ""
    secrets: dict[str, str] = field(default_factory=dict)
    cgroups: dict[str, str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    hosted: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Spec:
        values = known(data, {f.name for f in fields(cls)}, "spec.json")
        for name in ("asked_at", "start_before"):
            if values.get(name) is not None:
                values[name] = Moment(*values[name])
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Result:
    """How the attempt ended. `kind` is a value of OutcomeKind; moments are seconds since the epoch.

    node_refused: the machine did not give what the start needed.
    value: the JSON that the job gave as its result.
    log: `bytes` that the job wrote, `lost_bytes` of them that the disk would not take, and its words for that.
    final: it said that another attempt would not help.
    start_method: "warm" or "cold", as it was started, "" if it was not. start_note: why cold, where warm was wished.
    """

    token: str
    kind: str
    ended_at: float
    error: str = ""
    exit_code: int | None = None
    signal: int | None = None
    started_at: float | None = None
    duration_seconds: float | None = None
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    descendants_ended: int = 0
    value: str = ""
    node_refused: bool = False
    log: dict[str, Any] = field(default_factory=dict)
    start_method: str = ""
    start_note: str = ""
    final: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Result:
        """FormatError if it holds something else than `to_json` gives: a job may write into its run directory."""
        types = {f.name: str(f.type).split(" | ") for f in fields(cls)}
        values = known(data, set(types), "result.json")
        for name, value in values.items():
            if not isinstance(value, tuple(JSON_TYPES[kind] for kind in types[name])):
                raise FormatError("result.json", f"{name} {str(value)[:40]!r}")
            if isinstance(value, int | float) and not 0 <= value < LARGEST.get(name, 1 << 63):  # nor is nan
                raise FormatError("result.json", f"{name} {str(value)[:40]}")
        if (method := values.get("start_method", "")) not in START_METHODS:
            raise FormatError("result.json", f"start_method {method[:40]!r}")
        for name in ("error", "start_note"):
            values[name] = values.get(name, "").encode("utf-8", "replace").decode()
        if value := values.get("value"):
            try:
                values["value"] = result_of(value.encode("utf-8", "surrogatepass"))
            except Unclear as unclear:
                raise FormatError("result.json", f"value: {unclear}") from unclear
        return cls(**values)


def known(data: dict[str, Any], names: set[str], file: str) -> dict[str, Any]:
    """The values of `data` without its format; FormatError if it is of another version or has other names."""
    if data.get("format") != FORMAT:
        raise FormatError(file, f"format {data.get('format')!r}")
    values = {name: value for name, value in data.items() if name != "format"}
    if unknown := values.keys() - names:
        raise FormatError(file, f"{', '.join(sorted(unknown))} in it")
    return values
