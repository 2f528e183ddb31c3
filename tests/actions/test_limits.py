"""Making, changing and deleting limits, and what a job may say about them."""

from datetime import timedelta

import pytest

from jobs import actions
from jobs.actions import InvalidInput, NotFound, Refused
from jobs.limituse import uses
from jobs.models import Event, Instance, Job, Limit
from jobs.store import limits
from tests.actions.places import NOW, make_instance, make_job
from tests.dashboard.places import abandon, make_node, make_running

pytestmark = pytest.mark.django_db
TAG = {"kind": "tag", "name": "etl", "maximum": 2}
RATE = {"kind": "rate", "name": "api", "rate_per_second": 0.5, "burst": 3}


def make(**raw):
    return Limit.objects.get(pk=actions.create_limit(raw, actor="ann", now=NOW).limit_id)


def refused(action, *arguments, **raw):
    with pytest.raises(InvalidInput) as refusal:
        action(*arguments, raw, **({} if action is actions.check_limit else {"actor": "ann", "now": NOW}))
    return {problem.field: problem.sentence for problem in refusal.value.problems}


def test_limit_is_stored_with_its_event():
    limit = make(**TAG)
    assert (limit.kind, limit.name, limit.maximum) == ("tag", "etl", 2)
    event = Event.objects.get()
    assert (event.kind, event.actor, event.data["what"], event.data["maximum"]) == (
        "limit.changed",
        "ann",
        "created",
        2,
    )
    assert limits.load().maxima == {"tag:etl": 2}


def test_rate_has_a_burst_of_one_unless_given():
    assert make(kind="rate", name="api", rate_per_second=2).burst == 1


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({}, "kind"),
        ({"kind": "core"}, "kind"),
        ({"kind": "tag", "maximum": 1}, "name"),
        ({"kind": "tag", "name": "a,b", "maximum": 1}, "name"),
        ({"kind": "tag", "name": "etl"}, "maximum"),
        ({"kind": "tag", "name": "etl", "maximum": -1}, "maximum"),
        ({"kind": "tag", "name": "etl", "maximum": 1, "burst": 2}, "burst"),
        ({"kind": "model", "name": "goroutine", "maximum": 1}, "name"),
        ({"kind": "rate", "name": "api"}, "rate_per_second"),
        ({"kind": "rate", "name": "api", "rate_per_second": 0}, "rate_per_second"),
        ({"kind": "rate", "name": "api", "rate_per_second": True}, "rate_per_second"),
        ({"kind": "rate", "name": "api", "rate_per_second": float("nan")}, "rate_per_second"),
        ({"kind": "rate", "name": "api", "rate_per_second": 1, "burst": 0}, "burst"),
        ({"kind": "rate", "name": "api", "rate_per_second": 1, "maximum": 1}, "maximum"),
        (TAG | {"maxmum": 1}, "maxmum"),
    ],
)
def test_impossible_limit_is_refused_at_its_field(raw, field):
    assert field in refused(actions.check_limit, **raw)


def test_second_limit_of_a_name_is_refused():
    make(**TAG)
    assert "already" in refused(actions.create_limit, **TAG)["name"]


def test_change_keeps_the_tokens():
    limit = make(**RATE)
    Limit.objects.update(tokens=1.5, refilled_at=NOW)
    assert actions.change_limit(limit.pk, {"rate_per_second": 4}, actor="ann", now=NOW).changed == ("rate_per_second",)
    limit.refresh_from_db()
    assert (limit.rate_per_second, limit.tokens) == (4, 1.5)


def test_change_to_the_same_says_nothing():
    limit = make(**TAG)
    assert actions.change_limit(limit.pk, {"maximum": 2}, actor="ann", now=NOW).changed == ()
    assert Event.objects.count() == 1


def test_limit_keeps_its_kind_and_name():
    assert "make another" in refused(actions.change_limit, make(**TAG).pk, name="other")["name"]


def test_rate_that_jobs_take_from_is_not_deleted():
    limit = make(**RATE)
    make_job("caller", rates=["api"])
    with pytest.raises(Refused, match="Jobs take from the rate api: caller"):
        actions.delete_limit(limit.pk, actor="ann", now=NOW)


def test_deleted_limit_is_told():
    limit = make(**TAG)
    actions.delete_limit(limit.pk, actor="ann", now=NOW)
    assert Event.objects.last().data["what"] == "deleted"
    with pytest.raises(NotFound):
        actions.delete_limit(limit.pk, actor="ann", now=NOW)


def test_use_counts_who_runs_and_who_waits():
    make(**TAG), make(**RATE)
    job = make_job(tags=["etl"], rates=["api"])
    for status in ("running", "queued", "queued", "success"):
        make_instance(job, status)
    rate, tag = uses(Limit.objects.order_by("kind"), NOW)
    assert (tag.in_use, tag.waiting) == (1, 2)
    assert (rate.tokens, rate.waiting, rate.ready_at) == (3, 2, NOW)


def test_use_counts_threads_that_go_on_after_their_end():
    make(**TAG)
    node, gone = make_node(heartbeat_at=NOW), make_node("gone", heartbeat_at=NOW - timedelta(minutes=5))
    for name, where in (("a", node), ("b", gone)):
        abandon(make_running(make_job(name, tags=["etl"]), where), now=NOW)
    make_running(make_job("c", tags=["etl"]), node)
    (tag,) = uses(Limit.objects.all(), NOW)
    assert tag.in_use == 2


# --- what a job says ---


def test_job_has_its_limits():
    make(**RATE)
    job = make_job(
        rates=["api"], max_running=2, tenant="x", deadline_seconds=60, start_deadline_seconds=30,
        retry_only_exit_codes=[75, 3], retry_never_exit_codes=[2], pause_after_failures=3,
    )  # fmt: skip
    assert (job.rates, job.max_running, job.tenant, job.deadline_seconds) == (["api"], 2, "x", 60)
    assert (job.start_deadline_seconds, job.pause_after_failures) == (30, 3)
    assert (job.retry_only_exit_codes, job.retry_never_exit_codes) == ([3, 75], [2])


@pytest.mark.parametrize(
    "field_and_value",
    [
        ("rates", ["nothing"]), ("max_running", 0), ("deadline_seconds", 0), ("start_deadline_seconds", -1),
        ("retry_only_exit_codes", [0]), ("retry_only_exit_codes", [256]), ("retry_never_exit_codes", "2"),
        ("retry_never_exit_codes", [True]), ("pause_after_failures", 0), ("tenant", "a\nb"),
    ],
)  # fmt: skip
def test_impossible_wish_is_refused_at_its_field(field_and_value):
    field, value = field_and_value
    with pytest.raises(InvalidInput) as refusal:
        make_job(**{field: value})
    assert [problem.field for problem in refusal.value.problems] == [field]


def test_rate_that_is_not_there_is_named_with_those_that_are():
    make(**RATE)
    with pytest.raises(InvalidInput, match=r'no rate "apj"; make it under Limits first \(known are api\)'):
        make_job(rates=["apj"])


def test_exit_code_on_both_lists_is_refused():
    with pytest.raises(InvalidInput, match="Exit code 3 is in"):
        make_job(retry_only_exit_codes=[3], retry_never_exit_codes=[3])


def test_edit_may_keep_a_rate_that_is_gone():
    make(**RATE)
    job = make_job(rates=["api"])
    Limit.objects.all().delete()
    assert actions.change_job(job.pk, {"description": "x"}, actor="ann", now=NOW).changed == ("description",)


def test_bug_046_queue_can_be_cleared():
    job = make_job()
    for status in ("running", "queued", "queued", "pending", "retrying", "success"):
        make_instance(job, status)
    make_instance(other := make_job("other"), "queued")
    assert actions.cancel_waiting(job.pk, actor="ann", now=NOW).cancelled == 4
    assert set(job.instances.values_list("status", flat=True)) == {"running", "cancelled", "success"}
    assert Instance.objects.get(job=other).status == "queued"
    assert Event.objects.filter(kind="instance.ended", actor="ann").count() == 4


def test_queue_of_no_job_is_not_cleared():
    with pytest.raises(NotFound):
        actions.cancel_waiting(99, actor="ann", now=NOW)
    assert not Job.objects.exists()
