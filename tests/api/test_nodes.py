import pytest
from django.utils import timezone

from jobs.models import Node
from tests.actions.places import make_instance, make_job

pytestmark = pytest.mark.django_db


def test_node_is_drained_and_undrained(api):
    make_instance(make_job(), "running")
    node = Node.objects.get()
    Node.objects.update(heartbeat_at=timezone.now())
    drained = api.post(f"nodes/{node.pk}/drain").json()
    assert drained["drained_at"]
    expected = {"node_id": node.pk, "node": "alpha", "state": "live", "drained_by": "ada", "running": 1}
    assert expected.items() <= drained.items()
    assert api.get("system/health").json()["nodes"][0]["drained_by"] == "ada"
    assert api.post(f"nodes/{node.pk}/drain").json()["changed"] is False
    assert api.post(f"nodes/{node.pk}/undrain").json()["drained_at"] is None


def test_resources_say_which_id_to_drain(api):
    node = Node.objects.create(name="alpha", cores=[0])
    assert api.get("system/resources").json()["nodes"][0]["node_id"] == node.pk
    assert api.get("system/health").json()["nodes"][0]["node_id"] == node.pk


@pytest.mark.parametrize("number", ["7", "x", "0", "99999999999999999999"])
def test_unknown_node_is_a_problem(api, problem, number):
    assert "There is no node" in problem(api.post(f"nodes/{number}/drain"), 404)["detail"]
