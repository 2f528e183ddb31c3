"""What a worker says to its pool, and for which attempt it counts."""

import json
import os
import socket
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from jobs.callables import worker
from jobs.callables.answers import Answer
from jobs.callables.pool import Pool
from jobs.callables.worker import say
from jobs.callables.workers import Worker


class Talk:
    """A pool with one worker, which is at work for the attempt "mine" and whose end of the channel is `theirs`."""

    def __init__(self):
        ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        self.worker = Worker(os.posix_spawn("/bin/true", ["true"], {}), ours, {}, 0)
        self.worker.hosted = self.hosted = Mock(token="mine", ending=None, grace_left=0.0)
        self.pool = Pool(Mock())
        self.pool._workers[self.worker.pid] = self.pool._busy["mine"] = self.worker

    def says(self, token, **message):
        say(self.theirs, SimpleNamespace(token=token), **message)

    def answers(self, token, answer, *, leaves=False):
        self.says(token, answer=answer, cpu_seconds=0.0, leaves=leaves)

    def end(self):
        self.theirs.close()
        self.pool._on_gone(self.worker)


@pytest.fixture
def talk(monkeypatch):
    monkeypatch.setattr(Pool, "_left_of", lambda *_: [])  # the children of this process are not its
    talk = Talk()
    yield talk
    if talk.pool._workers:
        talk.end()


def test_all_that_it_said_before_its_end_is_heard(talk):
    """Its answer was lost behind what it had told of its progress, where the pool came late to both."""
    talk.says("mine", progress=[0.5, "half"])
    talk.answers("mine", Answer("failed", "the shelf is empty"), leaves=True)
    talk.end()
    assert talk.hosted.progress.call_args.args == (0.5, "half")
    assert talk.hosted.end.call_args.args == (Answer("failed", "the shelf is empty"),)


def test_answer_that_comes_late_is_not_the_next_ones(talk):
    """That of a callable which had given one in its worker's place: the next attempt ended with it."""
    talk.answers("before", Answer("success", value="7"))
    talk.pool._on_said(talk.worker)
    assert not talk.hosted.end.called
    talk.answers("mine", Answer("success", value="8"))
    talk.pool._on_said(talk.worker)
    assert talk.hosted.end.call_args.args == (Answer("success", value="8"),)


def test_worker_says_which_call_is_its_last(monkeypatch, tmp_path):
    """Else it got another as it ended, which never began and was a success."""
    monkeypatch.setattr(worker, "MOST_CALLS", 2)
    monkeypatch.setattr(worker, "Place", Mock)
    monkeypatch.setattr(worker, "Spec", Mock(from_json=lambda _: SimpleNamespace(token="mine", cores=())))
    monkeypatch.setattr(worker, "called", lambda *_: (Answer("success"), 0.0))
    monkeypatch.setattr(worker, "children_of", lambda _: [])
    monkeypatch.setattr(worker.threading, "active_count", lambda: 1)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        for _ in range(2):
            ours.send(json.dumps({"path": str(tmp_path)}).encode())
        worker.serve(theirs)
        assert [json.loads(ours.recv(1 << 16))["leaves"] for _ in range(2)] == [False, True]
