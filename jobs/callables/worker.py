"""A process of the pool: calls one function after another, until it is told no more or should not be used again.

It is a fork of the pool's process, which is its parent and sees to its end. It leads a session of its own, and is a
child subreaper: what a callable has started and left, wherever it went, descends from it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import traceback
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from jobs.callables import process
from jobs.callables.answers import Answer, attempted
from jobs.callables.context import Cancelled, Context, cancel_by_term
from jobs.callables.given import output_in, parameters_in, upstreams_in
from jobs.callables.taking import call_of
from jobs.execution.rundir import SPEC, RunDir
from jobs.execution.spawn import (
    PR_SET_CHILD_SUBREAPER,
    close_all_but,
    default_signals,
    die_with,
    prctl,
)
from jobs.execution.spec import Spec
from jobs.execution.tree import children_of

MOST_CALLS = 500  # what a library leaks does not grow for ever
CHANNEL = 3


def become(channel: socket.socket, stdout: int, stderr: int, parent: int, nice: int) -> NoReturn:
    """To be called in the fork. channel: to the pool, a request is answered before the next comes."""
    code = 1
    try:
        os.setsid()
        die_with(parent)
        os.nice(nice)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        for have, want in ((stdout, 1), (stderr, 2), (channel.fileno(), CHANNEL)):
            os.dup2(have, want, inheritable=want != CHANNEL)
        channel.detach()
        close_all_but(CHANNEL)
        serve(socket.socket(fileno=CHANNEL))
        code = 0
    except BaseException:  # noqa: BLE001 what a callable has made of this process: its attempt fails, and says why
        traceback.print_exc()
    finally:
        os._exit(code)


def serve(channel: socket.socket) -> None:
    cores = os.sched_getaffinity(0)
    place = Place()
    for left in reversed(range(MOST_CALLS)):
        request = channel.recv(1 << 16)
        if not request:
            return
        path = json.loads(request)["path"]
        with RunDir(path) as rundir:
            spec = Spec.from_json(rundir.read_json(SPEC) or {})
            os.sched_setaffinity(0, spec.cores or cores)
            answer, seconds = called(spec, rundir, channel, place)
        used_up = not left or bool(children_of(os.getpid())) or threading.active_count() > 1
        say(channel, spec, answer=answer, cpu_seconds=seconds, leaves=used_up)
        if used_up:
            return


def say(channel: socket.socket, spec: Spec, **message: Any) -> None:
    """Whose it is, is said with it: read late, it would be taken for the next one's."""
    channel.send(json.dumps({"of": spec.token, **message}).encode())


class Place:
    """What a call finds as it was, whatever the one before has made of it."""

    def __init__(self) -> None:
        self._folder = os.open(".", os.O_PATH | os.O_CLOEXEC)
        self._umask = os.umask(0)
        self.tidy()

    def tidy(self) -> None:
        os.fchdir(self._folder)
        os.umask(self._umask)
        signal.setitimer(signal.ITIMER_REAL, 0)
        default_signals()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__


def called(spec: Spec, rundir: RunDir, channel: socket.socket, place: Place) -> tuple[Answer, float]:
    """How it ended, and the seconds of a core that it took. What it prints is on its way when this returns."""
    cancelled = Cancelled()

    def tell(done: float, text: str) -> None:
        say(channel, spec, progress=[done, text[:1000]])

    def output() -> Path:
        say(channel, spec, output=True)
        return output_in(rundir)

    def context(values: dict[str, Any]) -> Context:
        given = upstreams_in(rundir)
        listen = partial(cancel_by_term, cancelled)
        return Context(spec.instance_id, spec.attempt, values, cancelled, tell, output, listen, given)

    began = seconds_used()
    process.fresh_connections()
    call = call_of(spec.body, partial(parameters_in, rundir), context)
    answer = call if isinstance(call, Answer) else attempted(call)
    place.tidy()
    process.fresh_connections()
    sys.stdout.flush()
    sys.stderr.write(answer.output)
    sys.stderr.flush()
    return answer._replace(output=""), seconds_used() - began


def seconds_used() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system
