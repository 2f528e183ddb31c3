"""Reads which callable a job runs, and refuses what cannot be done for one that shares its process with others."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.actions.answers import Problem
from jobs.actions.reading import Reader, shown
from jobs.callables import discovery, registry
from jobs.core.running import RUN_FIELDS, ExecutionModel
from jobs.models import Job
from jobs.store.specs import JobSpec

MOST_NAMED = 10
# What is about a process as a whole, by the API's names.
OF_A_PROCESS = (
    "memory_mb_required", "environment", "secrets", "keep_workspace", "retry_only_exit_codes", "retry_never_exit_codes",
    *RUN_FIELDS,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """Where a job runs. `shared`: in a process that serves others too, so that nothing can be set for it alone."""

    model: str = ExecutionModel.PROCESS
    shared: bool = False

    @staticmethod
    def of(found: registry.Registered) -> Place:
        return Place(found.model, found.pooled or found.model != ExecutionModel.PROCESS.value)

    @property
    def least_cores(self) -> int:
        return 1 if self.model == ExecutionModel.PROCESS else 0


# Of what is refused anyway: whether it needs a core nobody can say.
UNKNOWN = Place(ExecutionModel.ASYNC)


def read_place(reader: Reader, kind: str, body: str, before: JobSpec | None) -> Place:
    """Scripts and commands have a process of their own; of a callable the code says it.

    What is gone from the code is refused, but for an edit (of `before`) that leaves it alone.
    """
    if kind != Job.Kind.CALLABLE:
        return Place()
    if not body:
        return UNKNOWN
    found = registry.get(body)
    if found is not None:
        return Place.of(found)
    if before is not None and (before.kind, before.body) == (kind, body):
        return Place(before.execution_model)
    reader.refuse("callable", "the name of a callable", f"callable is {shown(body)}, but {_hint(body)}")
    return UNKNOWN


def refuse_what_is_shared(reader: Reader, spec: JobSpec) -> None:
    """What a process has as a whole cannot be set for one of those that share it."""
    usual = JobSpec("", Job.Kind.CALLABLE, "")
    for field in OF_A_PROCESS:
        name = "memory_mb" if field == "memory_mb_required" else field
        of = (spec.run, usual.run) if field in RUN_FIELDS else (spec, usual)
        if getattr(of[0], name) != getattr(of[1], name):
            sentence = (
                f"{field} is about a process, and {spec.body} shares one with others; leave it out, "
                'or let the code say model="process" without pooled.'
            )
            reader.problems.append(Problem(field, "(not repeated)", "nothing", sentence))  # variables may be secret


def _hint(name: str) -> str:
    near = registry.near(name)
    known = [one.name for one in registry.all()]
    if near:
        hint = f"no app registers it; did you mean {' or '.join(near)}?"
    elif known:
        more = " and others" if len(known) > MOST_NAMED else ""
        hint = f"no app registers it; known are {', '.join(known[:MOST_NAMED])}{more}."
    else:
        hint = "no app registers any; put @job on a function in an app's jobs.py and start the service again."
    return " ".join([hint, *discovery.failures()])
