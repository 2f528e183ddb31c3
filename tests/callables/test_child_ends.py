"""Of attempts of one host that end at the same time, exactly one ends what may be of any of them; and none waits for
what nobody may end.
"""

import signal
import time
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from jobs.callables import childends, children, host
from jobs.callables.answers import Answer
from jobs.callables.childends import ChildEnds, ChildrenEnding
from jobs.callables.children import Children
from jobs.callables.pool import Pool
from jobs.execution import ending
from jobs.execution.tree import Process
from jobs.execution.verdict import CANCELLED

GRACE_SECONDS = 600.0
ORPHAN = Process(7, 1, 7, 7, "S", started=100)


class World:
    """Attempts of a host, what descends from it, and its link, which calls by `pass_on` all but the end of a grace."""

    def __init__(self):
        self.found = {ORPHAN: None}
        self.attempts = {}
        self.due = []
        self.ends = ChildEnds(Mock(later=self.later), Children(), self.attempts)
        self.told = []

    def later(self, seconds, action):
        if seconds < GRACE_SECONDS:
            self.due.append(action)

    def attempt(self, token, ticks=50):
        self.attempts[token] = SimpleNamespace(
            token=token, ticks=ticks, ending=None, may_have_children=True, descendants_ended=0,
            grace_left=GRACE_SECONDS, notice=lambda sentence: self.told.append((token, sentence)),
        )  # fmt: skip
        return self.attempts[token]

    def ask(self, hosted):
        hosted.ending = CANCELLED
        self.ends.ask(hosted, CANCELLED.error)

    def finish(self, hosted):
        self.ends.finish(hosted, lambda: self.attempts.pop(hosted.token))

    def pass_on(self, times=3):
        for _ in range(times):
            due, self.due = self.due, []
            for action in due:
                action()

    def send_all(self, processes, number):
        if number == signal.SIGTERM:
            for one in processes:
                del self.found[one]
        return []

    @property
    def who_ended_it(self):
        return [token for token, sentence in self.told if "TERM sent to 1 process" in sentence]


@pytest.fixture
def world(monkeypatch):
    world = World()
    monkeypatch.setattr(children, "descendants", lambda _: list(world.found))
    monkeypatch.setattr(children, "token_of", lambda _: None)
    monkeypatch.setattr(children, "children_of", lambda _: [])
    monkeypatch.setattr(children, "adopted", list)
    monkeypatch.setattr(children, "COST_FACTOR", 0)
    monkeypatch.setattr(childends, "send_all", world.send_all)
    return world


def test_what_a_thread_that_runs_on_has_left_to_another_ends_with_that(world):
    thread, other = world.attempt("thread"), world.attempt("other")
    world.ask(thread)
    world.pass_on()
    assert world.found
    world.finish(other)
    world.pass_on()
    assert world.who_ended_it == ["other"]


def test_two_threads_that_run_on_leave_nothing_to_each_other(world):
    threads = [world.attempt("one"), world.attempt("two")]
    for thread in threads:
        world.ask(thread)
        world.pass_on()
    assert world.who_ended_it == ["two"]


@pytest.mark.parametrize("order", [("thread", "other"), ("other", "thread")])
def test_of_two_that_end_at_once_the_last_ends_it(world, order):
    begin = {"thread": world.ask, "other": world.finish}
    for token, hosted in [(token, world.attempt(token)) for token in order]:
        begin[token](hosted)
    world.pass_on()
    assert world.who_ended_it == [order[-1]]


def test_one_that_goes_on_keeps_what_may_be_its_own(world):
    thread, other, goes_on = (world.attempt(token) for token in ("thread", "other", "goes on"))
    world.ask(thread)
    world.finish(other)
    world.pass_on()
    assert world.found
    world.finish(goes_on)
    world.pass_on()
    assert world.who_ended_it == ["goes on"]


def test_host_tells_no_end_of_what_is_alive(monkeypatch):
    """Killed between, it left a process for which nobody looked any more: its attempt had an end."""
    done = []
    monkeypatch.setattr(host, "end_all", lambda: done.append("nothing is alive"))
    monkeypatch.setattr(host, "leave", lambda: done.append("it leaves"))
    monkeypatch.setattr(host, "Coroutines", Mock())
    its = host.Host(Mock(), Mock(), reports=0)
    its._clerk = Mock(put=lambda call: call())
    its._attempts["mine"] = Mock(token="mine", abandoned=False, ending=None)
    its._attempts["mine"].end.side_effect = lambda *_, **__: done.append("its end is told") or Mock()
    its._end()
    assert done[:2] == ["nothing is alive", "its end is told"]


def test_first_look_that_comes_late_sends_a_term(monkeypatch):
    """A host that was held up for longer than the grace killed at once what had been told nothing."""
    sent = []
    for module in (childends, ending):
        monkeypatch.setattr(module, "send_all", lambda _processes, number: sent.append(number) or [])
    monkeypatch.setattr(childends, "kill_groups", Mock())
    hosted = Mock(grace_left=GRACE_SECONDS)
    its = ChildrenEnding(hosted, lambda _since: [ORPHAN])
    its.tell("it has ended")
    its._kill_at = time.monotonic()
    assert its.look()
    assert sent == [signal.SIGTERM, signal.SIGCONT]
    assert hosted.notice.call_args.args[0].startswith("it has ended: TERM sent to 1 process")


def test_pooled_one_ends_and_names_what_may_not_be_signalled(monkeypatch):
    for module in (childends, ending):
        monkeypatch.setattr(module, "send_all", lambda processes, _number: list(processes))
    monkeypatch.setattr(childends, "kill_groups", Mock())
    hosted = Mock(token="mine", ending=None, grace_left=0.0)
    worker = Mock(hosted=hosted, answer=Answer("success"), facts={}, outputs={})
    pool = Pool(link := Mock())
    pool._busy["mine"] = worker
    its = ChildrenEnding(hosted, lambda _since: [ORPHAN])
    its.tell("it has ended")
    pool._clear(worker, hosted, its)
    assert hosted.notice.call_args.args == (f"processes of another user are left: {ORPHAN.pid}",)
    assert hosted.end.called
    assert link.send.call_args.kwargs["ended"] == "mine"
