"""One callable in a process of its own. It is run as a script is, by a runner; its parameters are in a file."""

import json
import os
import signal
import sys
from pathlib import Path

sys.path[:] = os.environ["ROTA_PROJECT_PATH"].split(os.pathsep)  # not this folder, whose modules are no scripts'

from jobs.callables.answers import Answer, attempted  # noqa: E402 - found by the line above
from jobs.callables.context import Cancelled, Context  # noqa: E402 - as above
from jobs.execution.rundir import ERROR_FILE  # noqa: E402 - as above


def main() -> int:
    """The exit code."""
    answer = run(os.environ["ROTA_CALLABLE"])
    sys.stdout.flush()
    sys.stderr.write(answer.output)
    if answer.notice:
        sys.stderr.write(f"{answer.notice}\n")
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

    parameters = json.loads(Path(os.environ["ROTA_PARAMETERS_FILE"]).read_text("utf-8"))
    cancelled = Cancelled()
    context = Context(
        int(os.environ["ROTA_INSTANCE_ID"]),
        int(os.environ["ROTA_ATTEMPT"]),
        parameters,
        cancelled,
        lambda done, text: write(os.environ["ROTA_PROGRESS_FILE"], f"{done} text={text}"),
        lambda: listen(cancelled),
    )
    call = call_of(name, parameters, context)
    return call if isinstance(call, Answer) else attempted(call)


def listen(cancelled: Cancelled) -> None:
    """Whoever asks whether it is cancelled wants to end by itself; others end by the signal."""
    signal.signal(signal.SIGTERM, lambda _number, _frame: cancelled.cancel())


def write(path: str, text: str) -> None:
    """Whole or not at all: the runner looks whenever it likes."""
    beside = Path(f"{path}.tmp")
    beside.write_text(text, "utf-8", "backslashreplace")
    beside.replace(path)


if __name__ == "__main__":
    sys.exit(main())
