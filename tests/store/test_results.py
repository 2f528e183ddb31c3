"""Results of upstreams, as those that wait for them are given them."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from jobs.models import Attempt, Dependency, Node
from jobs.store.results import of_upstreams
from tests.dashboard.places import make_job, make_waiting

DATE = datetime(2026, 3, 1, tzinfo=UTC)


def gave(job, result, outcome="success", date=DATE, generation=0):
    instance = make_waiting(job, "success", ended_at=date, logical_at=date, generation=generation)
    node = Node.objects.get_or_create(name="n", defaults={"cores": [0]})[0]
    fields = {"number": 1, "token": f"t{instance.pk}", "status": "ended", "node": node}
    Attempt.objects.create(instance=instance, outcome=outcome, result=result, created_at=date, ended_at=date, **fields)


@pytest.fixture
def waiting(each_database):
    a, b, c = make_job("a"), make_job("b"), make_job("c")
    for upstream in (a, b):
        Dependency.objects.create(job=c, upstream=upstream)
    return a, b, make_waiting(c, logical_at=DATE)


def test_each_upstream_is_named_with_what_it_gave(waiting):
    a, _, instance = waiting
    gave(a, '{"n": 1}')
    assert json.loads(of_upstreams([instance])[instance.pk]) == {"a": {"n": 1}, "b": None}


def test_only_the_latest_success_of_that_date_counts(waiting):
    a, b, instance = waiting
    gave(a, "1")
    gave(a, "2", generation=1)
    gave(a, "3", outcome="failed", generation=2)
    gave(b, "4", date=DATE + timedelta(days=1))
    assert json.loads(of_upstreams([instance])[instance.pk]) == {"a": 2, "b": None}


def test_who_waits_for_nobody_is_given_nothing(waiting, django_assert_num_queries):
    lone = make_waiting(make_job("lone"))
    with django_assert_num_queries(1):
        assert of_upstreams([lone]) == {}
