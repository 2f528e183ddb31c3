"""What a node has for jobs with packages is in its row, and written when it changes."""

import pytest

from jobs.execution.equipment import LONGEST_PACKAGES, MOST_TOLD, Equipment, look
from jobs.execution.installed import EnvironmentFolder
from jobs.execution.pythons import Python, write
from jobs.models import Node
from jobs.service import equipment
from jobs.service.clock import utc_now
from jobs.service.equipment import EquipmentTeller
from tests.fixtures.environments import make_environment


@pytest.fixture
def folder(tmp_path):
    made = EnvironmentFolder(tmp_path)
    made.make()
    write(made.pythons, [Python("3.11.7", "/usr/bin/python3"), Python("3.12.4", "/usr/bin/python3.12")])
    return made


def told(node):
    return Equipment.from_json(Node.objects.get(pk=node.pk).equipment)


@pytest.mark.django_db
def test_it_is_written_when_it_changes(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(equipment.connection, "close", lambda: None)  # a test's is that of all
    node = Node.objects.create(name="atlas")
    assert told(node) == Equipment()
    teller = EquipmentTeller(node.pk)
    teller.tell(folder)
    first = told(node)
    assert (first.pythons, first.environments) == (("3.11.7", "3.12.4"), ())
    teller.tell(folder)
    assert told(node).told_at == first.told_at
    make_environment(tmp_path)
    teller.tell(folder)
    assert [one.packages for one in told(node).environments] == ["pandas<3"]


@pytest.mark.django_db
def test_its_age_tells_of_a_node_that_is_silent(folder, monkeypatch):
    monkeypatch.setattr(equipment.connection, "close", lambda: None)
    node = Node.objects.create(name="atlas")
    teller = EquipmentTeller(node.pk)
    teller.tell(folder)
    before = told(node).told_at
    teller._anew.at_once()
    teller.tell(folder)
    assert told(node).told_at > before


def test_a_row_stays_small(folder, tmp_path):
    make_environment(tmp_path, "long", requirements=["x" * 400] * 3)
    for number in range(MOST_TOLD):
        make_environment(tmp_path, f"key{number}")
    found = look(folder)
    assert len(found.environments) == MOST_TOLD
    assert all(len(one.packages) <= LONGEST_PACKAGES for one in found.environments)
    assert Equipment.from_json(found.to_json(utc_now())).environments == found.environments


def test_what_a_later_release_tells_besides_is_left_out(folder, tmp_path):
    """A node that is upgraded first must not break its page on the others."""
    make_environment(tmp_path)
    told = look(folder).to_json(utc_now())
    told["environments"][0]["later"] = told["later"] = 1
    assert Equipment.from_json(told).environments == look(folder).environments
