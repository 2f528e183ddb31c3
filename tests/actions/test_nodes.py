import pytest

from jobs.actions import NotFound, drain_node, undrain_node
from jobs.models import Event, Node
from tests.actions.places import NOW, events, later

pytestmark = pytest.mark.django_db


@pytest.fixture
def node() -> Node:
    return Node.objects.create(name="atlas", cores=[0, 1])


def test_drained_node_says_since_when_and_by_whom(node):
    assert drain_node(node.pk, actor="ann", now=NOW).changed
    node.refresh_from_db()
    assert (node.drained_at, node.drained_by) == (NOW, "ann")
    event = Event.objects.get()
    assert (event.kind, event.actor, event.data) == ("node.changed", "ann", {"node": node.pk, "draining": True})


def test_second_drain_changes_nothing(node):
    drain_node(node.pk, actor="ann", now=NOW)
    assert not drain_node(node.pk, actor="bob", now=later(hours=1)).changed
    node.refresh_from_db()
    assert (node.drained_at, node.drained_by) == (NOW, "ann")
    assert events() == ["node.changed"]


def test_undrained_node_is_as_before(node):
    assert not undrain_node(node.pk, actor="ann", now=NOW).changed
    drain_node(node.pk, actor="ann", now=NOW)
    assert undrain_node(node.pk, actor="bob", now=later(hours=1)).changed
    node.refresh_from_db()
    assert (node.drained_at, node.drained_by) == (None, "")
    assert Event.objects.latest("pk").data["draining"] is False


@pytest.mark.parametrize("change", [drain_node, undrain_node])
def test_unknown_node_is_not_found(change):
    with pytest.raises(NotFound, match="There is no node 7"):
        change(7, actor="ann", now=NOW)
