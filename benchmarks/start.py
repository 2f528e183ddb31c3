"""How many Python scripts a second are run to their recorded end, two at a time: warm, cold, and by `xargs -P2`.

    .venv/bin/python benchmarks/start.py [--seconds 3] [--rounds 3]

Warm and cold are a launcher and its runners as the service has them, with run directory, log and durable result, but
without the database; xargs starts `python SCRIPT` and keeps nothing. First each script's output is compared. The three
take turns in each round; ratios are of one round, and the median of the rounds is shown.
"""

from __future__ import annotations

import argparse
import os
import select
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from statistics import median
from typing import NamedTuple

from _bench import ROOT, remove, show

sys.path.insert(0, str(ROOT))

from jobs.execution import log, moment
from jobs.execution.environment import INTERPRETER
from jobs.execution.launching import LauncherProcess, Runner
from jobs.execution.limits import home
from jobs.execution.rundir import RESULT, SPEC, RunDir
from jobs.execution.spec import Result, Spec

AT_ONCE = 2
SCRIPTS = {
    "trivial": "print('ran')",
    "common imports": "import json, re, pathlib, urllib.request, sqlite3\nprint('ran')",
    "Django": "import django.db.models, django.http, django.urls, django.forms\nprint('ran')",
}

WARM_IMPORTS = ["django.db.models", "django.http", "django.urls", "django.forms"]  # as ROTA_WARM_IMPORTS would say


class Running(NamedTuple):
    path: Path
    runner: Runner


class Bench:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {"PATH": os.defpath, "HOME": home(), **INTERPRETER}
        self.launcher = LauncherProcess(sys.executable, folder / "launcher.log", warm=True, imports=WARM_IMPORTS)

    def begin(self, script: Path, start: str) -> Running:
        token = uuid.uuid4().hex
        path = self.folder / "runs" / token
        path.mkdir(parents=True)
        env = {**self.env, "ROTA_TOKEN": token}
        spec = Spec(token, 1, 1, "script_path", str(script), sys.executable, env, moment.now(), start=start)
        with RunDir(str(path)) as rundir:
            rundir.write_json(SPEC, spec.to_json())
        self.launcher.ask(path)
        runner = self.launcher.answer()
        assert isinstance(runner, Runner)
        return Running(path, runner)

    def end(self, running: Running) -> Result:
        pidfd, notes = running.runner.pidfd, running.runner.notes
        assert pidfd is not None
        assert notes is not None
        while select.select([notes], [], [])[0] and os.read(notes, 4096):
            continue
        os.close(pidfd)
        os.close(notes)
        with RunDir(str(running.path)) as rundir:
            result = Result.from_json(rundir.read_json(RESULT) or {})
        assert result.kind == "success", result.error
        return result

    def rate(self, script: Path, start: str, seconds: float) -> float:
        began = time.perf_counter()
        going: list[Running] = []
        count = 0
        while going or time.perf_counter() < began + seconds:
            while len(going) < AT_ONCE and time.perf_counter() < began + seconds:
                going.append(self.begin(script, start))
            if going:
                assert self.end(going.pop(0)).start_method == start
                count += 1
        return count / (time.perf_counter() - began)

    def xargs_rate(self, script: Path, seconds: float) -> float:
        """Of as many as are expected to take that long."""
        count = AT_ONCE * 2
        while True:
            began = time.perf_counter()
            names = "\0".join([str(script)] * count)
            subprocess.run(
                ["/usr/bin/xargs", "-0", "-n1", f"-P{AT_ONCE}", sys.executable],
                input=names, text=True, env=self.env, stdout=subprocess.DEVNULL, check=True,
            )  # fmt: skip
            took = time.perf_counter() - began
            if took > seconds / 2:
                return count / took
            count = int(count * seconds / took)

    def check(self, script: Path) -> None:
        """Both ways print what it should, once the launcher has loaded what it loads in advance."""
        for start in ("cold", "warm"):
            deadline = time.monotonic() + 20
            while True:
                running = self.begin(script, start)
                method = self.end(running).start_method
                assert log.read_text(running.path).text == "ran\n"
                if method == start:
                    break
                assert time.monotonic() < deadline, "does not start warm"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="rota-bench-"))
    bench = Bench(folder)
    try:
        show("scripts a second, two at a time; ratios within a round", [
            measure(bench, name, text, options.seconds, options.rounds) for name, text in SCRIPTS.items()
        ])  # fmt: skip
    finally:
        bench.launcher.close()
        remove(folder)


def measure(bench: Bench, name: str, text: str, seconds: float, rounds: int) -> dict[str, object]:
    script = bench.folder / f"{name.replace(' ', '_')}.py"
    script.write_text(text)
    bench.check(script)
    rates = [
        (bench.rate(script, "warm", seconds), bench.rate(script, "cold", seconds), bench.xargs_rate(script, seconds))
        for _ in range(rounds)
    ]
    warm, cold, xargs = zip(*rates, strict=True)
    return {
        "script": name,
        "warm": median(warm),
        "cold": median(cold),
        "xargs -P2": median(xargs),
        "warm / cold": median(a / b for a, b in zip(warm, cold, strict=True)),
        "warm / xargs": median(a / b for a, b in zip(warm, xargs, strict=True)),
    }


if __name__ == "__main__":
    main()
