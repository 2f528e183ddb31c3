"""A thread that goes on after its end holds its place of a limit, and is overlapped with, on every node."""

from datetime import timedelta

import pytest

from jobs import models
from jobs.core.inputs import Abandoned, Ended
from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind
from jobs.service import registration
from tests.store.benches import NOW, at
from tests.store.test_limit_claims import Node, claimed, make_job, running, submit

pytestmark = pytest.mark.usefixtures("each_database")


def node(name: str) -> Node:
    """One that lives."""
    made = Node(name)
    models.Node.objects.filter(pk=made.node.pk).update(heartbeat_at=NOW)
    return made


def look(one: Node) -> None:
    """As the service's loop does."""
    seen = one.follower.look(poked=True)
    changed = one.follower.take_node_changed()
    one.pass_with([*(one.follower.abandoned_elsewhere(one.now) if changed else []), *seen])


def abandon(one: Node, instance_id: int) -> str:
    token = one.engine.known.running[instance_id].token
    registration.tell_abandoned(one.node, [token], one.now)
    one.pass_with([Abandoned(instance_id, token, Outcome(OutcomeKind.TIMEOUT, one.now))])
    return token


def come_back(one: Node, instance_id: int, token: str) -> None:
    registration.tell_abandoned(one.node, [], one.now)
    one.pass_with([Ended(instance_id, token, Outcome(OutcomeKind.TIMEOUT, one.now))])


@pytest.fixture
def nodes() -> tuple[Node, Node]:
    return node("left"), node("right")


@pytest.fixture
def abandoned(nodes: tuple[Node, Node]) -> tuple[int, str]:
    """On the left node, of a job that may run once at a time."""
    left, right = nodes
    (instance_id,) = submit(make_job(max_running=1))
    look(left)
    look(right)
    return instance_id, abandon(left, instance_id)


def test_other_node_starts_nothing_beside_it(nodes, abandoned):
    left, right = nodes
    (waiting,) = submit(models.Job.objects.get())
    look(right)
    assert running() == []
    assert models.Instance.objects.get(pk=waiting).hold_code == "limit"
    come_back(left, *abandoned)
    look(right)
    assert running() == [waiting]


def test_a_node_that_begins_later_starts_nothing_beside_it(nodes, abandoned):
    submit(models.Job.objects.get())
    later = node("later")
    look(later)
    assert running() == []


def test_it_holds_nothing_when_its_node_was_killed(nodes, abandoned):
    _, right = nodes
    (waiting,) = submit(models.Job.objects.get())
    look(right)
    assert running() == []
    right.now = at(60)
    right.pass_with(right.follower.abandoned_elsewhere(right.now))
    assert running() == [waiting]


def test_it_holds_nothing_when_its_node_stops(nodes, abandoned):
    left, right = nodes
    (waiting,) = submit(models.Job.objects.get())
    look(right)
    assert running() == []
    registration.sign_off(left.node, NOW)
    look(right)
    assert running() == [waiting]


def test_what_has_not_changed_is_not_told_again(nodes, abandoned):
    _, right = nodes
    look(right)
    assert right.follower.abandoned_elsewhere(right.now) == []


def test_store_counts_it(nodes, abandoned):
    """Two nodes that start at the same moment know only of what each has seen."""
    _, right = nodes
    (waiting,) = submit(models.Job.objects.get())
    needs = {"limits": (f"job:{models.Job.objects.get().pk}",)}
    assert not claimed(waiting, right.store, "t", **needs)
    models.Node.objects.update(heartbeat_at=NOW - timedelta(minutes=1))
    assert claimed(waiting, right.store, "t", **needs)
