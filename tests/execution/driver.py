"""A service in miniature, to be killed: launches what it reads from stdin, line by line, and prints what is reported.

Run as: python -m tests.execution.driver DATA_DIR
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from jobs.core.records import Allocation
from jobs.core.running import RunOptions
from jobs.execution.launch import Launch
from jobs.execution.local import LocalExecutor


def say(report):
    line = {"report": type(report).__name__, "token": report.ref.token}
    if outcome := getattr(report, "outcome", None):
        line |= {"kind": outcome.kind, "error": outcome.error}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def launch_of(body, token, instance_id=1, attempt=1, job_name="a job", **fields):
    values = {"kind": "command", "kill_grace_seconds": 0.3, "allocation": Allocation((), 0, 0), **fields}
    return Launch(
        instance_id=instance_id, job_id=7, job_name=job_name, attempt=attempt, token=token, body=body,
        logical_at=datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC), **values,
    )  # fmt: skip


def main():
    executor = LocalExecutor(Path(sys.argv[1]), say, node="here")
    executor.open()
    for line in sys.stdin:
        fields = json.loads(line)
        executor.launch(launch_of(**fields | {"run": RunOptions(**fields.get("run", {}))}))
    executor.close()


if __name__ == "__main__":
    main()
