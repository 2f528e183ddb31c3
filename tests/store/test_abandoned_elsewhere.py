"""A thread that goes on after its end holds its place of a limit, and is overlapped with, on every node."""

from datetime import timedelta

import pytest

from jobs import models
from jobs.core.inputs import Abandoned, Ended
from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind
from jobs.service import follow, registration
from jobs.store import changes
from tests.store.benches import NOW
from tests.store.test_limit_claims import Node, claimed, make_job, running, submit

pytestmark = pytest.mark.usefixtures("each_database")


def node(name: str) -> Node:
    """One that lives."""
    made = Node(name)
    models.Node.objects.filter(pk=made.node.pk).update(heartbeat_at=NOW)
    return made


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
    left.look()
    right.look()
    return instance_id, abandon(left, instance_id)


def test_other_node_starts_nothing_beside_it(nodes, abandoned):
    left, right = nodes
    (waiting,) = submit(models.Job.objects.get())
    right.look()
    assert running() == []
    assert models.Instance.objects.get(pk=waiting).hold_code == "limit"
    come_back(left, *abandoned)
    right.look()
    assert running() == [waiting]


def test_a_node_that_begins_later_starts_nothing_beside_it(nodes, abandoned):
    submit(models.Job.objects.get())
    later = node("later")
    later.look()
    assert running() == []


def test_it_holds_nothing_when_its_node_was_killed(abandoned, monkeypatch):
    monkeypatch.setattr(follow, "OTHER_NODES_SECONDS", 0)
    later = node("later")
    (waiting,) = submit(models.Job.objects.get())
    later.look()
    assert running() == []
    later.look(60)
    assert running() == [waiting]


def test_it_holds_nothing_when_its_node_stops(nodes, abandoned):
    left, right = nodes
    (waiting,) = submit(models.Job.objects.get())
    right.look()
    assert running() == []
    registration.sign_off(left.node, NOW)
    right.look()
    assert running() == [waiting]


def test_what_has_not_changed_is_not_told_again(nodes, abandoned):
    _, right = nodes
    right.look()
    registration.keep_cores(nodes[0].node, 7, NOW)
    assert right.follower.look(right.now, poked=True) == []


def test_an_end_that_is_written_during_a_look_does_not_hide_its_thread(nodes, abandoned, monkeypatch):
    """The events were read before the node told of it, as after a wish to cancel; the instance, after its end."""
    _, right = nodes
    (waiting,) = submit(models.Job.objects.get())
    seen = changes.Changes(changes.newest(), instances=frozenset({abandoned[0], waiting}))
    monkeypatch.setattr(changes, "since", lambda _position, but_of: seen)
    right.look()
    assert models.Instance.objects.get(pk=waiting).hold_code == "limit"


def test_store_counts_it(nodes, abandoned):
    """Two nodes that start at the same moment know only of what each has seen."""
    _, right = nodes
    (waiting,) = submit(models.Job.objects.get())
    needs = {"limits": (f"job:{models.Job.objects.get().pk}",)}
    assert not claimed(waiting, right.store, "t", **needs)
    models.Node.objects.update(heartbeat_at=NOW - timedelta(minutes=1))
    assert claimed(waiting, right.store, "t", **needs)
