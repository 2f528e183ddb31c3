"""The environment that a job would be given, as far as it can be told before its start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from jobs.core.records import Allocation
from jobs.execution import environment
from jobs.execution.launch import Launch
from jobs.execution.masking import masked
from jobs.models import Node

KNOWN_FACTS = ("ROTA_JOB_NAME", "CPU_LIMIT", "MEMORY_LIMIT_MB")
SOURCES = {
    "job": "the job",
    "secret": "secret",
    "node": "the node's file",
    "base": "Rota",
    "fact": "Rota, at its start",
}


@dataclass(frozen=True, slots=True)
class Variable:
    """`value` is None for what only its start decides, and of a secret its name. `source` is a key of SOURCES;
    `overrides`: another one's.
    """

    name: str
    value: str | None
    source: str
    overrides: bool = False

    @property
    def source_words(self) -> str:
        return SOURCES[self.source]


@dataclass(frozen=True, slots=True)
class Foreseen:
    """`node` is empty while there are several, or none. `fault`: a sentence, where the node's file cannot be read, and
    so no job can start.
    """

    node: str
    variables: tuple[Variable, ...] = ()
    fault: str = ""


def foresee(
    own: Mapping[str, str],
    *,
    secrets: Mapping[str, str],
    name: str,
    cores: int,
    memory_mb: int,
    data_dir: Path,
    now: datetime,
) -> Foreseen:
    """Made by the code that makes it at the start, of an allocation of as many cores. `secrets`: names by variable."""
    node = _node()
    launch = Launch(
        instance_id=0, job_id=0, job_name=name, attempt=1, token="", kind="command", body="", logical_at=now,
        allocation=Allocation(tuple(range(cores)), 0, memory_mb), memory_limit_mb=memory_mb, env=own,
    )  # fmt: skip
    try:
        whole = environment.environment_of(launch, node, data_dir / environment.NODE_FILE)
        from_file = environment.read_file(data_dir / environment.NODE_FILE)
    except (environment.EnvironmentFileError, OSError) as fault:
        return Foreseen(node, fault=str(fault))
    layers = {
        "base": environment.base(launch),
        "node": from_file,
        "job": own,
        "fact": environment.facts(launch, node),
    }
    known = (*KNOWN_FACTS, *(["ROTA_NODE"] if node else []))
    told = {key: value for key, value in whole.items() if key not in secrets}
    given = [Variable(key, value, "secret", overrides=key in whole) for key, value in secrets.items()]
    return Foreseen(node, (*(_variable(key, value, layers, known) for key, value in told.items()), *given))


def _variable(name: str, value: str, layers: Mapping[str, Mapping[str, str]], known: Sequence[str]) -> Variable:
    found = [source for source, layer in layers.items() if name in layer]
    unknown = found[-1] == "fact" and name not in known
    return Variable(name, None if unknown else masked(name, value), found[-1], overrides=len(found) > 1)


def _node() -> str:
    """The only node's name: of several nobody knows yet which it will be."""
    names = list(Node.objects.values_list("name", flat=True)[:2])
    return names[0] if len(names) == 1 else ""
