"""The pages of nodes, and draining one there."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.models import Event, Node
from tests.dashboard.places import NAUGHTY, make_job, make_node, make_running
from tests.dashboard.test_pages import html, text
from tests.fixtures.environments import told_by

pytestmark = pytest.mark.django_db


def ago(**duration):
    return timezone.now() - timedelta(**duration)


def test_empty_list_says_what_to_do(visitor):
    assert "No node yet. Start one with manage.py runscheduler" in text(visitor, "/nodes/")


def test_list_says_state_and_what_is_given_out(visitor):
    make_running(make_job(memory_mb=512), make_node(version="9.9"), cores=(0, 1), virtual=1)
    make_node("bora", heartbeat_at=ago(minutes=3))
    make_node("cora", stopped_at=ago(hours=1))
    shown = text(visitor, "/nodes/")
    for said in (
        "live",
        "not stepping",
        "stopped",
        "2 of 4",
        "3 of 6",
        "512.0 MB of 4.0 GB",
        "1 running",
        "version 9.9",
    ):
        assert said in shown


def test_page_says_what_the_machine_is_and_cannot(visitor):
    node = make_node(
        notices=["memory is not enforced"], boot_id="boot-7", incarnation=12, host_name="atlas.example", pid=77
    )
    make_running(make_job("merge"), node)
    shown = text(visitor, f"/nodes/{node.pk}/")
    for said in ("memory is not enforced", "boot-7", "12", "atlas.example", "process 77", "merge", str(node.uuid)):
        assert said in shown


def test_page_lists_environments_and_pythons_of_any_node(visitor):
    atlas, bora = make_node("atlas"), make_node("bora")
    told_by(bora, "3.11.7", "3.12.4", packages=f"pandas<3, {NAUGHTY}")
    shown = html(visitor, f"/nodes/{bora.pk}/")
    for said in ("3.11.7, 3.12.4", "Python 3.12.4", "pandas&lt;3", "01234567", "last used", "2.9 MB", "as it said"):
        assert said in shown
    assert "<title>Node bora" in shown
    assert "pandas" not in html(visitor, f"/nodes/{atlas.pk}/")


def test_page_holds_only_its_own(visitor):
    atlas, bora = make_node("atlas"), make_node("bora")
    make_running(make_job("here"), atlas)
    make_running(make_job("elsewhere"), bora)
    shown = text(visitor, f"/nodes/{atlas.pk}/")
    assert "here" in shown
    assert "elsewhere" not in shown


def test_node_is_drained_and_undrained(visitor):
    node = make_node()
    make_running(make_job(), node)
    page = visitor.post(f"/nodes/{node.pk}/drain/", follow=True)
    assert page.redirect_chain == [(f"/nodes/{node.pk}/", 302)]
    shown = text(visitor, f"/nodes/{node.pk}/")
    assert "Drained by ann" in shown
    assert "1 still runs here." in shown
    assert "draining" in text(visitor, "/nodes/")
    assert "draining" in text(visitor)
    visitor.post(f"/nodes/{node.pk}/undrain/")
    assert "Drained by" not in text(visitor, f"/nodes/{node.pk}/")
    assert list(Event.objects.filter(kind="node.changed").values_list("actor", flat=True)) == ["ann", "ann"]


def test_drained_node_that_is_empty_says_so(visitor):
    node = make_node(drained_at=ago(minutes=5))
    assert "Nothing runs here any more" in text(visitor, f"/nodes/{node.pk}/")


@pytest.mark.parametrize("path", ["/nodes/7/", "/nodes/7/drain/"])
def test_unknown_node_is_not_found(visitor, path):
    assert (visitor.post(path) if path.endswith("drain/") else visitor.get(path)).status_code == 404


def test_draining_asks_for_post(visitor):
    node = make_node()
    assert visitor.get(f"/nodes/{node.pk}/drain/").status_code == 405
    assert Node.objects.get().drained_at is None


def test_names_of_nodes_are_shown_as_they_are(visitor):
    node = make_node(NAUGHTY, notices=[NAUGHTY], version=NAUGHTY[:32], host_name=NAUGHTY, drained_at=ago(hours=1))
    make_running(make_job(NAUGHTY), node)
    for path in ("/", "/nodes/", f"/nodes/{node.pk}/"):
        assert "<img" not in html(visitor, path)
        assert "&lt;img src=x" in html(visitor, path)


def test_pages_cost_the_same_with_more(visitor):
    first, counts = make_node("first"), []
    html(visitor, "/nodes/")
    for batch in range(2):
        for number in range(1 + 8 * batch):
            make_running(make_job(f"job {batch} {number}"), make_node(f"node {batch} {number}"))
            make_running(make_job(f"other {batch} {number}"), first)
        counts.append([])
        for path in ("/nodes/", f"/nodes/{first.pk}/", "/"):
            with CaptureQueriesContext(connection) as queries:
                visitor.get(path)
            counts[-1].append(len(queries))
    assert counts[0] == counts[1]
