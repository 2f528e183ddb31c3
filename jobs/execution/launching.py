"""The service's end of a launcher: starts it, asks it, takes its answers. One thread only."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jobs.execution.environment import INTERPRETER
from jobs.execution.limits import home
from jobs.execution.secrets import GivenSecret, sealed

logger = logging.getLogger(__name__)

MAX_ANSWER_BYTES = 4096
MAIN = "import sys; sys.path.insert(0, sys.argv[1]); from jobs.execution.launcher import main; main(int(sys.argv[2]))"
WARM_MAIN = """
import sys
bare, path = [*sys.modules], [*sys.path]
sys.path.insert(0, sys.argv[1])
from jobs.execution.shelf import Recorder
recorder = Recorder(bare)
from jobs.execution.preload import main
main(int(sys.argv[2]), recorder, path, sys.argv[3:])
"""
PROJECT_MAIN = """
import json, sys
sys.path[:] = json.loads(sys.argv[3])
from jobs.callables.launcher import main
main(int(sys.argv[2]))
"""
PROJECT = Path(__file__).resolve().parents[2]
END_SECONDS = 10.0


class LauncherGoneError(ConnectionError):
    """The launcher has ended; what it was asked for and has not answered may or may not have been done."""

    def __init__(self) -> None:
        super().__init__("the launcher has ended; logs/launcher.log in the data folder may say why")


@dataclass(frozen=True, slots=True)
class Runner:
    """One that has the attempt. The descriptors are the receiver's to close; None if there were too few for them."""

    pidfd: int | None
    notes: int | None


@dataclass(frozen=True, slots=True)
class Refused:
    """No runner was forked."""

    error: str


class LauncherProcess:
    """A launcher that runs. It is isolated from the service's environment, path and terminal, and ends with it."""

    def __init__(
        self, python: str, log: Path, *, warm: bool = False, imports: Sequence[str] = (), project: bool = False
    ) -> None:
        """OSError if `python` cannot be started. warm: begun as scripts are, to become one; `imports`: modules that it
        loads in advance besides those that it always does. project: with the service's path and environment, since it
        loads the project, for callables.
        """
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = ["-c", WARM_MAIN] if warm else ["-I", "-S", "-X", "utf8", "-c", MAIN]
        env = {**INTERPRETER, "HOME": home()} if warm else {}
        if project:
            program, imports, env = ["-c", PROJECT_MAIN], [json.dumps(sys.path)], dict(os.environ)
        command = [python, *program, str(PROJECT), str(theirs.fileno()), *imports]
        try:
            with theirs, log.open("ab") as errors:
                self.process = subprocess.Popen(
                    command,
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    env=env,
                    cwd="/",
                    start_new_session=True,
                )
        except OSError:
            self.socket.close()
            raise

    def ask(self, path: Path, secrets: Sequence[GivenSecret] = ()) -> None:
        """Ask for a runner for the run directory `path`. LauncherGoneError if nobody is there to ask. OSError if there
        is no descriptor to pass the secrets by.
        """
        given = [sealed(secrets)] if secrets else []
        try:
            socket.send_fds(self.socket, [os.fsencode(path)], given)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise LauncherGoneError from error
        finally:
            for fd in given:
                os.close(fd)

    def answer(self) -> Runner | Refused:
        """The next answer, in the order of asking; waits for it. LauncherGoneError if there will be none."""
        try:
            data, fds, _, _ = socket.recv_fds(self.socket, MAX_ANSWER_BYTES, 2, socket.MSG_CMSG_CLOEXEC)
        except ConnectionResetError as error:
            raise LauncherGoneError from error
        if not data:
            raise LauncherGoneError
        reply = json.loads(data)
        if "error" in reply:
            return Refused(reply["error"])
        if len(fds) < 2:  # the launcher or this process had no descriptors left
            for fd in fds:
                os.close(fd)
            return Runner(None, None)
        return Runner(*fds)

    def leave(self) -> None:
        """Let it do what it was asked, and end. Its runners live on."""
        self.socket.close()

    def close(self, seconds: float = END_SECONDS) -> None:
        """Have it leave, and see that it does."""
        self.leave()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:  # somebody has stopped it: it must not keep the service from ending
            logger.error("the launcher (process %d) did not end in time and is killed", self.process.pid)
            self.end()

    def end(self) -> int:
        """End it at once, if it has not ended by itself: its exit status then, as that of Popen."""
        self.socket.close()
        self.process.kill()
        try:
            return self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:  # it hangs in the disk, and is gone when that answers
            return -signal.SIGKILL

    def go_on(self) -> None:
        """If somebody has stopped it: no attempt would start any more."""
        self.process.send_signal(signal.SIGCONT)
