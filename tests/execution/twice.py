"""Runs scripts cold and warm, and says what could be seen of each run."""

import os
import re
import sys
import uuid

from jobs.execution import log, moment
from jobs.execution.launching import LauncherProcess
from jobs.execution.limits import home
from jobs.execution.rundir import RESULT, SPEC, WORK, RunDir
from jobs.execution.spec import Result, Spec
from tests.execution.running import through, until

ENV = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1", "TZ": "America/New_York", "A": "ż",
       "TERM": "dumb"}  # fmt: skip


class Twice:
    def __init__(self, folder, imports=(), launcher=None):
        """`launcher`: of the caller's making, who waits for it."""
        self.folder = folder
        self.launcher = launcher or LauncherProcess(sys.executable, folder / "launcher.log", warm=True, imports=imports)
        if launcher is None:
            until(lambda: self.run("", "auto").start_method == "warm")  # once it has loaded what it loads in advance

    def close(self):
        self.launcher.close()

    def both(self, text, name):
        """What was seen of the cold and of the warm run of a script, which run at once."""
        begun = [self.ask(text, start, name) for start in ("cold", "warm")]
        return [observed(path, self.result(path, runner), self.folder) for path, runner in begun]

    def run(self, text, start, **fields):
        return self.result(*self.ask(text, start, **fields))

    def ask(self, text, start, name=None, env=ENV, **fields):
        script = self.folder / "scripts" / (name or uuid.uuid4().hex) / "main.py"
        if not script.exists():  # the other run may be reading it
            write(script, text)
        token = uuid.uuid4().hex
        path = self.folder / "runs" / token[:8]
        path.mkdir(parents=True)
        env = {**env, "HOME": home(), "ROTA_TOKEN": token}
        spec = Spec(token, 1, 1, "script_path", str(script), sys.executable, env, moment.now(), start=start,
                    keep_workspace=True, **{"kill_grace_seconds": 0.3, "timeout_seconds": 60.0, **fields})  # fmt: skip
        with RunDir(str(path)) as rundir:
            rundir.write_json(SPEC, spec.to_json())
        self.launcher.ask(path)
        return path, self.launcher.answer()

    def result(self, path, runner):
        assert through(runner.notes), "the runner did not end"
        os.close(runner.pidfd)
        os.close(runner.notes)
        with RunDir(str(path)) as rundir:
            return Result.from_json(rundir.read_json(RESULT))


def write(script, text):
    script.parent.mkdir(parents=True, exist_ok=True)
    first, *others = re.split(r"^### (.+)\n", text, flags=re.MULTILINE)
    for name, content in [("main.py", first), *zip(others[::2], others[1::2], strict=True)]:
        file = script.parent / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)


def observed(path, result, folder):
    plain = Plain(path, result.token, folder)
    streams = [plain(log.read(path, limit=1 << 23, stream=one).data) for one in (log.STDOUT, log.STDERR, log.NOTICE)]
    left = {str(file.relative_to(path / WORK)): (oct(file.stat().st_mode), file.is_file() and plain(file.read_bytes()))
            for file in sorted((path / WORK).rglob("*"))}  # fmt: skip
    end = (result.kind, result.exit_code, result.signal, result.error, result.descendants_ended)
    return {"end": end, "out": streams[0], "err": streams[1], "notices": streams[2], "left": left,
            "method": result.start_method}  # fmt: skip


class Plain:
    """Without what is another in each run of a Python: its places in memory, its run directory. Not its process id: no
    script prints that, and it may be any number that one does print.
    """

    def __init__(self, path, token, folder):
        self.names = {str(path): "RUN", token: "TOKEN", str(folder): "FOLDER"}

    def __call__(self, data):
        text = data.decode("utf-8", "backslashreplace")
        for found, name in self.names.items():
            text = text.replace(found, name)
        text = re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", text)
        return re.sub(r"\b\d{14,}\b", "IDENT", text)
