"""Calls one callable in a process of its own, as a runner has it: parameters in a file, result in another."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from jobs.callables.answers import Answer, attempted
from jobs.callables.context import Cancelled, Context, cancel_by_term
from jobs.execution.rundir import ERROR_FILE, write_all


def main() -> int:
    """The exit code."""
    answer = run(os.environ["ROTA_CALLABLE"])
    flush()
    write_all(2, (answer.output or (answer.notice and f"{answer.notice}\n")).encode("utf-8", "backslashreplace"))
    if answer.value:
        write(os.environ["ROTA_RESULT_FILE"], answer.value)
    if answer.kind == "success":
        return 0
    said = json.dumps({"error": answer.error, "final": answer.final or answer.kind == "rejected"})
    write(f"{os.environ['ROTA_WORKSPACE']}/{ERROR_FILE}", said)
    return answer.exit_code or 1


def run(name: str) -> Answer:
    import django

    django.setup()
    from jobs.callables.taking import call_of

    call = call_of(name, parameters, context_of)
    return call if isinstance(call, Answer) else attempted(call)


def parameters() -> dict[str, Any]:
    return dict(json.loads(Path(os.environ["ROTA_PARAMETERS_FILE"]).read_text("utf-8")))


def context_of(values: dict[str, Any]) -> Context:
    cancelled = Cancelled()
    return Context(
        int(os.environ["ROTA_INSTANCE_ID"]),
        int(os.environ["ROTA_ATTEMPT"]),
        values,
        cancelled,
        lambda done, text: write(os.environ["ROTA_PROGRESS_FILE"], f"{done} text={text}"),
        lambda: Path(os.environ["ROTA_OUTPUT"]),
        lambda: cancel_by_term(cancelled),
        json.loads(Path(file).read_text("utf-8")) if (file := os.environ.get("ROTA_UPSTREAM_RESULTS")) else {},
    )


def flush() -> None:
    """As Python does at its end: what the callable has closed or taken away is its own affair."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()


def write(path: str, text: str) -> None:
    """Whole or not at all: the runner looks whenever it likes."""
    beside = Path(f"{path}.tmp")
    beside.write_text(text, "utf-8", "backslashreplace")
    beside.replace(path)
