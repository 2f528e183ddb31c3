"""Running and retrying along dependencies."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs.actions import InvalidInput, NotFound, Refused, retry_from_here, retry_instance, run_job
from jobs.core.states import LIVE
from jobs.models import Instance, Job
from tests.actions.places import HOURLY, NOW, later, make_instance, make_job

pytestmark = pytest.mark.django_db


@pytest.fixture
def abc():
    """a -> b -> c"""
    a = make_job("a", **HOURLY)
    return a, make_job("b", depends_on=["a"]), make_job("c", depends_on=["b"])


def run(job, **wish):
    return run_job(job.pk, actor="ada", now=NOW, **wish)


def made():
    rows = Instance.objects.order_by("pk")
    return [(row.job.name, row.generation, row.status) for row in rows.select_related("job")]


def test_a_workflow_by_hand_is_one_date(abc):
    submitted = run(abc[1], scope="workflow")
    assert [name for name, *_ in made()] == ["a", "b", "c"]
    assert set(Instance.objects.values_list("logical_at", "cause")) == {(NOW, "workflow")}
    assert Instance.objects.get(pk=submitted.instance_id).job == abc[1]
    assert len(submitted.also) == 2


def test_a_date_that_is_there_takes_the_next_generation(abc):
    for _ in range(2):
        run(abc[0], scope="workflow", logical_at=NOW)
    assert {(name, generation) for name, generation, _ in made()} == {(n, g) for n in "abc" for g in (0, 1)}


def test_what_begins_a_workflow_takes_it_along(abc):
    run(abc[0])
    assert len(made()) == 3


def test_only_this_one_is_only_this_one(abc):
    run(abc[0], scope="job")
    assert [name for name, *_ in made()] == ["a"]


def test_a_dependent_alone_is_for_the_latest_date(abc):
    make_instance(abc[0], "success", logical_at=NOW - timedelta(hours=1))
    submitted = run(abc[1])
    assert Instance.objects.get(pk=submitted.instance_id).logical_at == NOW - timedelta(hours=1)
    assert submitted.missing == ()


def test_missing_upstreams_are_named(abc):
    assert run(abc[1]).missing == ("a",)
    assert run(abc[2], logical_at=datetime(2020, 1, 1, tzinfo=UTC)).missing == ("b",)


def test_not_before_holds_in_a_run_by_hand(abc):
    Job.objects.filter(pk=abc[2].pk).update(not_before="23:30")
    run(abc[0])
    assert Instance.objects.get(job=abc[2]).due_at == datetime(2026, 5, 4, 23, 30, tzinfo=UTC)


def test_unknown_scope_and_job_are_refused(abc):
    with pytest.raises(InvalidInput):
        run(abc[0], scope="all")
    with pytest.raises(NotFound):
        run_job(999, actor="ada", now=NOW, scope="workflow")


def failed_date(abc):
    a = make_instance(abc[0], "failed")
    return a, *(make_instance(job, "upstream_failed", blame=a) for job in abc[1:])


def test_a_retry_brings_back_what_waited_for_it(abc):
    ended = failed_date(abc)
    submitted = retry_instance(ended[0].pk, actor="ada", now=later(hours=1))
    back = Instance.objects.filter(generation=1).order_by("pk")
    assert [(row.job_id, row.retry_of_id, row.logical_at) for row in back] == [
        (row.job_id, row.pk, NOW) for row in ended
    ]
    assert [row.status for row in back] == ["queued", "pending", "pending"]
    assert submitted.also == tuple(row.pk for row in back[1:])


def test_a_retry_leaves_what_ran_alone(abc):
    a = make_instance(abc[0], "failed")
    make_instance(abc[1], "success")
    make_instance(abc[2], "upstream_failed", blame=a)
    assert retry_instance(a.pk, actor="ada", now=NOW).also == ()


def test_a_second_retry_finds_the_first(abc):
    ended = failed_date(abc)
    first = retry_instance(ended[0].pk, actor="ada", now=NOW)
    again = retry_instance(ended[0].pk, actor="ada", now=NOW)
    below = retry_instance(ended[1].pk, actor="ada", now=NOW)
    assert (again.instance_id, again.is_new, below.instance_id) == (first.instance_id, False, first.also[0])
    assert Instance.objects.count() == 6


def test_from_here_makes_all_below_again(abc):
    rows = [make_instance(job, "success") for job in abc]
    submitted = retry_from_here(rows[1].pk, actor="ada", now=NOW)
    assert [name for name, generation, _ in made() if generation == 1] == ["b", "c"]
    assert Instance.objects.get(pk=submitted.also[0]).retry_of == rows[2]


def test_from_here_keeps_what_waits(abc):
    rows = [make_instance(job, "success") for job in abc[:2]]
    make_instance(abc[2], "pending")
    retry_from_here(rows[0].pk, actor="ada", now=NOW)
    assert Instance.objects.filter(job=abc[2], status__in=LIVE).count() == 1


def test_from_here_is_refused_beside_a_run(abc):
    rows = [make_instance(abc[0], "success"), make_instance(abc[1], "running")]
    with pytest.raises(Refused, match="of b is running"):
        retry_from_here(rows[0].pk, actor="ada", now=NOW)
    assert Instance.objects.count() == 2


def test_from_here_twice_is_once(abc):
    rows = [make_instance(job, "success") for job in abc]
    first = retry_from_here(rows[0].pk, actor="ada", now=NOW)
    assert retry_from_here(rows[0].pk, actor="ada", now=NOW).instance_id == first.instance_id
    assert Instance.objects.count() == 6
