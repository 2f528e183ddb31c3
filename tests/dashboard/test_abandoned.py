"""Threads that go on after the end of their instance: what they hold is taken, wherever cores are shown."""

import json
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.presentation.running import MOST_SHOWN
from dashboard.topics import parts_of
from tests.dashboard.places import abandon, come_back, make_job, make_node, make_running
from tests.dashboard.test_boards import Reader
from tests.dashboard.test_pages import html, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def node():
    return make_node("atlas", notices=[])


@pytest.fixture
def thread(node):
    """Two cores of four, a virtual slot of two and half of the memory."""
    return abandon(make_running(make_job("deaf", memory_mb=2048), node, (0, 1), virtual=1))


def cells(visitor, path="/"):
    """Each cell of a core, as it is drawn."""
    return re.findall(r'<li class="(?:cell|speck)".*?</li>', html(visitor, path), re.DOTALL)


@pytest.mark.parametrize("path", ["/", "/nodes/{}/"])
def test_its_cores_are_marked_with_its_instance(visitor, node, thread, path):
    first, _, third, _ = cells(visitor, path.format(node.pk))
    assert "data-reserved" in first
    assert "data-abandoned=" in first
    assert f'href="/instances/{thread.pk}/"' in first
    assert "data-abandoned" not in third
    shown = text(visitor, path.format(node.pk))
    for said in ("2 of 4", "1 of 2", "2.0 GB of 4.0 GB", "virtual 1, abandoned"):
        assert said in shown


@pytest.mark.parametrize("path", ["/", "/nodes/{}/"])
def test_it_stands_behind_what_runs_and_cannot_be_cancelled(visitor, node, thread, path):
    running = make_running(make_job("heeds"), node, (2,))
    shown = html(visitor, path.format(node.pk))
    rows = re.findall(r'<li class="row running" data-key="i(\d+)"', shown)
    assert rows == [str(running.pk), str(thread.pk)]
    assert f"/instances/{running.pk}/cancel/" in shown
    assert f"/instances/{thread.pk}/cancel/" not in shown
    assert re.search("abandoned core.* ended .*, its thread has not returned", text(visitor, path.format(node.pk)))


@pytest.mark.parametrize("path", ["/", "/nodes/", "/nodes/{}/"])
def test_it_is_gone_with_a_node_that_was_killed(visitor, node, thread, path):
    type(node).objects.update(heartbeat_at=timezone.now() - timedelta(minutes=10))
    shown = html(visitor, path.format(node.pk))
    for said in ("data-abandoned", "1 abandoned", f'data-key="i{thread.pk}"', "its thread has not returned"):
        assert said not in shown


def test_list_of_nodes_counts_it_apart(visitor, node, thread):
    make_running(make_job("heeds"), node, (2,))
    shown = text(visitor, "/nodes/")
    for said in ("3 of 4", "4 of 6", "2.0 GB of 4.0 GB", "1 running, 1 abandoned"):
        assert said in shown


def test_many_nodes_name_it_on_their_small_cells(visitor, node, thread):
    for name in "bcdef":
        make_node(name)
    first = cells(visitor)[0]
    assert "data-abandoned=" in first
    assert f'aria-label="Core 0: deaf, instance {thread.pk}, abandoned thread"' in first


def test_drained_node_says_that_only_threads_are_left(visitor, node, thread):
    type(node).objects.update(drained_at=timezone.now())
    shown = text(visitor, f"/nodes/{node.pk}/")
    assert "Nothing runs here any more but 1 abandoned thread, which ends with the service; it can be stopped." in shown


def test_those_that_are_not_shown_are_counted(visitor, node):
    for number in range(MOST_SHOWN + 2):
        abandon(make_running(make_job(f"deaf {number}"), node, ()))
    shown = text(visitor)
    assert "and 2 more abandoned threads" in shown
    assert "more running" not in shown


@pytest.mark.parametrize("topic", ["overview", "node:{}"])
def test_pages_follow_it_live(node, topic):
    reader = Reader(topic.format(node.pk))
    run = make_running(make_job(), node)
    reader.later()
    abandon(run)
    changed = reader.later()
    assert list(changed[f"cores:{node.pk}"]["rows"]) == list(changed[f"coretable:{node.pk}"]["rows"]) == ["c0"]
    assert "data-abandoned" in json.dumps(changed[f"cores:{node.pk}"])
    assert "order" not in changed["running"]
    come_back(run)
    changed = reader.later()
    assert "data-reserved" not in json.dumps(changed[f"cores:{node.pk}"])
    assert changed["running"] == {"order": []}


def test_list_of_nodes_follows_it_live(node):
    reader = Reader("nodes")
    run = make_running(make_job(), node)
    reader.later()
    abandon(run)
    assert "0 running, 1 abandoned" in json.dumps(reader.later(2))
    come_back(run)
    assert "0 running<" in json.dumps(reader.later(2))


def test_page_of_its_instance_is_told_when_the_node_tells():
    """The node tells after the end: drawn between the two, the page said for ever that the thread had returned."""
    run = make_running(make_job(), make_node())
    part = parts_of(f"instance:{run.pk}")[0]
    reader = Reader("site")
    abandon(run)
    come_back(run)
    assert [part.touched_by(event) for event in reader.boards.follow(woken=True)] == [True, True, True]
