import re
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.test import RequestFactory
from django.utils import timezone

from jobs.api.health import healthz
from jobs.models import Node
from tests.actions.places import make_instance, make_job
from tests.dashboard.places import abandon, come_back, make_running
from tests.fixtures.environments import told_by

pytestmark = pytest.mark.django_db


def node(name="alpha", *, beat=0.0, **fields):
    heartbeat_at = timezone.now() - timedelta(seconds=beat)
    return Node.objects.create(name=name, cores=[0, 1, 2, 3], memory_mb=8000, heartbeat_at=heartbeat_at, **fields)


def test_resources_have_the_keys_of_the_design(api):
    alpha = node()
    make_running(make_job(memory_mb_required=100), alpha, (0, 1, 2), virtual=1)
    resources = api.get("system/resources").json()
    expected = {
        "total_physical": 4, "free_physical": 1, "used_physical": 3, "virtual_allocations": 1, "max_virtual": 2,
        "utilization_percent": 75.0, "total_memory_mb": 8000, "used_memory_mb": 100,
    }  # fmt: skip
    assert {name: resources[name] for name in expected} == expected
    (listed,) = resources["nodes"]
    assert {name: listed[name] for name in expected} == expected
    assert (listed["node"], listed["state"]) == ("alpha", "live")


def test_abandoned_thread_is_counted_and_named(api):
    alpha = node()
    make_running(make_job("a"), alpha, (0,))
    thread = abandon(make_running(make_job("b", memory_mb_required=100), alpha, (1, 2), virtual=1))
    resources = api.get("system/resources").json()
    used = {"used_physical": 3, "free_physical": 1, "virtual_allocations": 1, "used_memory_mb": 100}
    assert {name: resources[name] for name in used} == used
    (named,) = resources["abandoned"]
    expected = {"instance_id": thread.pk, "attempt": 1, "node_id": alpha.pk, "cores": [1, 2], "virtual_cores": 1}
    assert named.items() >= expected.items()
    assert named["abandoned_at"]
    assert resources["nodes"][0]["abandoned"] == [named]
    come_back(thread)
    resources = api.get("system/resources").json()
    assert (resources["used_physical"], resources["abandoned"]) == (1, [])


def test_threads_of_a_killed_node_hold_nothing(api):
    killed = node(beat=600)
    abandon(make_running(make_job("a"), killed, (1, 2), virtual=1))
    (told,) = api.get("system/resources").json()["nodes"]
    assert (told["used_physical"], told["virtual_allocations"], told["abandoned"]) == (0, 0, [])


def test_sum_leaves_out_who_stopped(api):
    node("alpha")
    node("beta")
    node("gone", stopped_at=timezone.now())
    resources = api.get("system/resources").json()
    assert resources["total_physical"] == 8
    assert [one["state"] for one in resources["nodes"]] == ["live", "live", "stopped"]


def test_health_tells_what_each_node_has(api):
    told_by(node("alpha"), "3.11.7", "3.12.4")
    node("beta")
    alpha, beta = api.get("system/health").json()["nodes"]
    assert alpha["pythons"] == ["3.11.7", "3.12.4"]
    (environment,) = alpha["environments"]
    assert environment | {"environment": "0123456789abcdef", "packages": "pandas<3", "in_use": False} == environment
    assert alpha["equipment_told_at"]
    assert (beta["pythons"], beta["environments"], beta["equipment_told_at"]) == (None, [], None)


def test_pythons_that_were_not_looked_for_are_unknown_not_none(api):
    told_by(node("alpha"))
    (alpha,) = api.get("system/health").json()["nodes"]
    assert alpha["equipment_told_at"]
    assert alpha["pythons"] is None


def test_resources_without_nodes_are_zero(api):
    assert api.get("system/resources").json()["utilization_percent"] == 0


def test_resources_cost_a_fixed_number_of_queries(api, django_assert_num_queries):
    api.get("system/resources")
    for name in "abcde":
        make_running(make_job(name), node(name))
    with django_assert_num_queries(3):
        assert api.get("system/resources").json()["used_physical"] == 5


def test_health_is_red_when_no_engine_steps(api):
    assert api.get("system/health").status_code == 503
    node(beat=300)
    silent = api.get("system/health")
    assert silent.status_code == 503
    assert re.search(r"node alpha has not stepped for 3\d\d s", silent.json()["detail"])
    node("beta", beat=5)
    well = api.get("system/health")
    assert (well.status_code, well.json()["status"]) == (200, "ok")
    assert "alpha" in well.json()["detail"]
    assert {one["node"]: one["state"] for one in well.json()["nodes"]} == {"alpha": "stale", "beta": "live"}


def test_health_counts_what_lives(api):
    node()
    job = make_job()
    for status in ("queued", "queued", "success"):
        make_instance(job, status)
    assert api.get("system/health").json()["instances"] == {"pending": 0, "queued": 2, "retrying": 0, "running": 0}


def test_healthz_needs_no_login():
    request = RequestFactory().get("/healthz")
    assert healthz(request).status_code == 503
    node()
    assert (healthz(request).status_code, healthz(request).content) == (200, b"ok\n")


def test_healthz_survives_the_database(monkeypatch):
    def refuse(*_):
        raise OperationalError("disk I/O error at /secret/path")

    monkeypatch.setattr(Node.objects, "order_by", refuse)
    answer = healthz(RequestFactory().get("/healthz"))
    assert answer.status_code == 503
    assert b"secret" not in answer.content
