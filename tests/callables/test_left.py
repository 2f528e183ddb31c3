"""Whose a process is that a worker of the pool has left."""

import os
from types import SimpleNamespace

import pytest

from jobs.callables import left
from jobs.callables.left import Left
from jobs.execution.tree import Process

HERE = os.getpid()


def process(pid, parent=HERE, state="S"):
    return Process(pid, parent, pid, pid, state, 100)


@pytest.fixture
def world(monkeypatch):
    """What descends from the pool, its workers among it."""
    world = SimpleNamespace(found=[], unseen=[])

    def processes(pid):
        return next((one for one in world.found + world.unseen if one.pid == pid), None)

    monkeypatch.setattr(left, "descendants", lambda _: [one for one in world.found if one.alive])
    monkeypatch.setattr(left, "process", processes)
    monkeypatch.setattr(left, "children_of", lambda _: pids(world.unseen))
    monkeypatch.setattr(os, "waitpid", lambda pid, _: world.unseen.remove(processes(pid)))
    return world


def pids(found):
    return [one.pid for one in found]


def test_what_is_a_workers_is_nobody_elses(world):
    world.found = [process(1), process(2, parent=1), process(3, parent=2), process(9)]
    assert pids(Left().of("mine", {1}, {1})) == [9]


def test_it_stays_of_whom_it_was(world):
    its = Left()
    world.found = [process(8), process(9, parent=8)]
    assert pids(its.of("first", set(), ())) == [8, 9]
    world.found = [process(7), process(9)]
    assert (pids(its.of("second", set(), ())), pids(its.of("first", set(), ()))) == ([7], [9])


def test_what_it_forks_is_of_the_same(world):
    its = Left()
    world.found = [process(8)]
    its.of("first", set(), ())
    world.found = [process(8), process(9, parent=8)]
    assert (pids(its.of("second", set(), ())), pids(its.of("first", set(), ()))) == ([], [8, 9])


def test_what_is_new_is_left_to_a_worker_that_has_just_died(world):
    its = Left()
    world.found = [process(1), process(8)]
    its.of("first", {1}, {1})
    world.found = [process(1, state="Z"), process(8), process(9)]
    assert pids(its.of("first", {1}, {1})) == [8]
    assert pids(its.of("second", set(), ())) == [9]


def test_worker_without_an_attempt_takes_nothing(world):
    """What was left at the moment at which it died was nobody's, and lived on."""
    world.found = [process(1, state="Z"), process(9)]
    assert pids(Left().of("mine", {1}, ())) == [9]


def test_what_was_forked_during_the_look_is_found(world):
    world.unseen = [process(8, state="Z"), process(9)]
    assert pids(Left().of("mine", set(), ())) == [9]
    assert pids(world.unseen) == [9]
