"""Whose a process is that descends from a host."""

import os
import time
from unittest.mock import Mock

import pytest

from jobs.callables import children
from jobs.callables.children import NOBODY, Children
from jobs.execution import tree
from jobs.execution.tree import Process


def process(pid, parent=1, started=100):
    return Process(pid, parent, pid, pid, "S", started)


OLD, NEW = Mock(token="old", ticks=50), Mock(token="new", ticks=90)


@pytest.fixture
def world(monkeypatch):
    """What descends from the host, by process: the token in its environment."""
    world = Mock(found={}, unseen=[], looks=0)

    def descendants(root):
        assert root == os.getpid()
        world.looks += 1
        return list(world.found)

    def tokens(pid):
        return next((token for one, token in world.found.items() if one.pid == pid), None)

    def process_of(pid):
        return next(one for one in (*world.found, *world.unseen) if one.pid == pid)

    monkeypatch.setattr(children, "descendants", descendants)
    monkeypatch.setattr(children, "token_of", tokens)
    monkeypatch.setattr(children, "process", process_of)
    monkeypatch.setattr(children, "children_of", lambda _: [one.pid for one in world.unseen])
    return world


def pids(its, hosted, *others, since=None):
    its.look(time.monotonic() if since is None else since)
    return [one.pid for one in its.of(hosted, others)]


def test_it_is_of_whom_it_was_noted_for_or_descends_from(world):
    world.found = {process(1): None, process(2, parent=1): "other", process(3): "old"}
    its = Children()
    its.note(1, "old")
    assert pids(its, OLD, NEW) == [1, 2, 3]
    assert pids(its, NEW, OLD) == []


def test_what_is_started_for_all_is_nobodys(world):
    world.found = {process(1): None, process(2, parent=1): None}
    its = Children()
    its.note(1, NOBODY)
    its.note(2, "new")
    assert (pids(its, OLD), pids(its, NEW)) == ([], [2])


def test_what_may_be_anybodys_is_of_the_last_that_may_have_started_it(world):
    world.found = {process(1, started=70): None, process(2, started=95): None, process(3, started=40): None}
    its = Children()
    assert pids(its, NEW, OLD) == []
    assert pids(its, OLD, NEW) == [1]
    assert pids(its, OLD) == [1, 2]
    assert pids(its, NEW) == [2]


def test_it_stays_of_whom_it_was_when_its_parent_has_gone(world):
    world.found = {process(1): "old", process(2, parent=1): None}
    its = Children()
    assert pids(its, OLD, NEW) == [1, 2]
    world.found = {process(2, parent=os.getpid()): None}
    assert (pids(its, NEW), pids(its, OLD, NEW)) == ([], [2])


def test_what_was_forked_during_the_look_is_found(world):
    world.unseen = [process(1, parent=os.getpid()), process(2)._replace(state="Z")]
    assert pids(Children(), OLD) == [1]


def test_one_that_has_just_ended_is_worth_a_look(world):
    world.unseen = [process(2)._replace(state="Z")]
    assert Children().may_be_of(OLD)


def test_child_of_a_thread_that_ends_during_the_look_is_found(monkeypatch):
    """A thread that was joined is there for a moment still; then its children are the first one's."""
    lists = {"10": b"", "11": b"77 "}

    def read(_pid, name):
        if name == "task/11/children":
            lists.update({"10": b"77 ", "11": b""})
        return lists[name.split("/")[1]]

    monkeypatch.setattr(tree, "tasks", lambda _: ["10", "11"])
    monkeypatch.setattr(tree, "read_proc", read)
    assert tree.children_of(10) == [77]


def test_many_that_end_at_once_share_a_look(world, monkeypatch):
    monkeypatch.setattr(children, "COST_FACTOR", 1e9)
    world.found = {process(1): "old"}
    its, now = Children(), time.monotonic()
    assert [pids(its, OLD, since=now) for _ in range(5)] == [[1]] * 5
    assert world.looks == 1
    world.found = {}
    assert pids(its, OLD) == []
