"""Reads which callable a job runs, and refuses what cannot be done for one that shares its process with others."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.actions.answers import Problem
from jobs.actions.reading import Reader, shown
from jobs.callables import discovery, registry
from jobs.core.running import RUN_FIELDS, USUAL_RUN, ExecutionModel
from jobs.models import Job
from jobs.store.specs import JobSpec

MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Place:
    """Where a job runs. `shared`: in a process that serves others too, so that nothing can be set for it alone."""

    model: str = ExecutionModel.PROCESS
    shared: bool = False

    @property
    def least_cores(self) -> int:
        return 1 if self.model == ExecutionModel.PROCESS else 0


def read_place(reader: Reader, kind: str, body: str, before: JobSpec | None) -> Place:
    """Scripts and commands have a process of their own; of a callable the code says it.

    What is gone from the code is refused, but for an edit (of `before`) that leaves it alone.
    """
    if kind != Job.Kind.CALLABLE or not body:
        return Place()
    found = registry.get(body)
    if found is not None:
        return Place(found.model, found.pooled or found.model != ExecutionModel.PROCESS.value)
    if before is not None and (before.kind, before.body) == (kind, body):
        return Place(before.execution_model)
    reader.refuse("callable", "the name of a callable", f"callable is {shown(body)}, but {_hint(body)}")
    return Place()


def refuse_what_is_shared(reader: Reader, spec: JobSpec) -> None:
    """What a process has as a whole cannot be set for one of those that share it."""
    for field, given, usual in (
        ("memory_mb_required", spec.memory_mb, 0),
        ("environment", spec.environment, {}),
        ("keep_workspace", spec.keep_workspace, None),
        ("retry_only_exit_codes", spec.retry_only_exit_codes, ()),
        ("retry_never_exit_codes", spec.retry_never_exit_codes, ()),
        *((name, getattr(spec.run, name), getattr(USUAL_RUN, name)) for name in RUN_FIELDS),
    ):
        if given != usual:
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
