"""A real launcher and what runs under it, as tests hold them."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

from jobs.execution import log
from jobs.execution.rundir import CANCEL, RESULT, STARTED, RunDir
from jobs.execution.secrets import sealed
from jobs.execution.spec import Result
from jobs.execution.tree import all_processes, marked, process, send, token_of
from tests.waiting import DEADLINE_SECONDS, until

ROOT = Path(__file__).parents[2]
# A script whose first thread ends and whose second goes on: it looks like a zombie.
HEADLESS = """
import ctypes, os, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
exit_thread = {"x86_64": 60}.get(os.uname().machine, 93)
ctypes.CDLL(None).syscall(exit_thread, 0)
"""
START = "import sys; sys.path.insert(0, sys.argv[1]); from jobs.execution.launcher import main; main(int(sys.argv[2]))"

BEGIN = "import os, sys, time; sys.stdin.readline(); os.close(int(sys.argv[1])); time.sleep(600)"


def through(notes, seconds=DEADLINE_SECONDS):
    """Whether the attempt ends whose runner is at the other end of `notes`."""
    while select.select([notes], [], [], seconds)[0]:
        try:
            if not os.read(notes, 4096):
                return True
        except ConnectionResetError:
            return True
    return False


class RealLauncher:
    def __init__(self, log_file):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, Path(log_file).open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-X", "utf8", "-c", START, str(ROOT), str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stderr=errors, start_new_session=True,
            )  # fmt: skip

    def ask(self, path, secrets=()):
        given = [sealed(secrets)] if secrets else []
        socket.send_fds(self.socket, [os.fsencode(path)], given)
        for fd in given:
            os.close(fd)
        data, fds, _, _ = socket.recv_fds(self.socket, 4096, 2)
        return json.loads(data), fds

    def close(self):
        self.socket.close()
        self.process.wait(DEADLINE_SECONDS)


class Running:
    """An attempt that was handed to a runner."""

    def __init__(self, path, pid, pidfd, notes, token):
        self.path, self.pid, self.pidfd, self.notes, self.token = path, pid, pidfd, notes, token

    def file(self, name):
        with RunDir(str(self.path)) as rundir:
            return rundir.read_json(name)

    @property
    def job(self):
        return until(lambda: self.file(STARTED))["pid"]

    @property
    def text(self):
        return log.read_text(self.path, limit=1 << 24).text

    def prints(self, text):
        until(lambda: text in self.text)

    def cancel(self):
        (Path(self.path) / CANCEL).touch()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            os.write(self.notes, CANCEL.encode())

    def result(self):
        assert through(self.notes), "the runner did not end it"
        return Result.from_json(self.file(RESULT))

    def alive(self):
        """Processes that carry this attempt's token, wherever they are now."""
        return marked(self.token, None)


class WaitsToBegin:
    """A process that becomes a job when it is let: as one does, it closes its end of the pipe `told`."""

    def __init__(self):
        self.told, tell = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", BEGIN, str(tell)], stdin=subprocess.PIPE, pass_fds=[tell]
        )
        os.close(tell)
        self.pid = self._process.pid

    def let_begin(self):
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()

    def begin(self):
        self.let_begin()
        assert self.has_begun(DEADLINE_SECONDS)

    def has_begun(self, seconds=0):
        return bool(select.select([self.told], [], [], seconds)[0])

    def close(self):
        self._process.kill()
        self._process.communicate()
        os.close(self.told)


def end_marked(tokens):
    """Kill what is left of these attempts, until nothing is: one may begin, or fork, while others are looked at."""

    def none_left():
        left = [one for one in all_processes() if one.alive and token_of(one.pid) in tokens]
        for one in left:
            send(one, signal.SIGKILL)
        return not left

    until(none_left)


def is_alive(pid):
    one = process(pid)
    return bool(one and one.alive)
