"""Which jobs a job waits for: how it is said, and what is refused with nothing stored."""

import pytest

from jobs.actions import InvalidInput, Refused, change_job, create_job, delete_job, pause_job, resume_job
from jobs.models import Dependency, Event, Instance, Job, Schedule
from tests.actions.places import HOURLY, NOW, later, make_instance, make_job

pytestmark = pytest.mark.django_db


def change(job, **fields):
    return change_job(job.pk, fields, actor="ada", now=later(minutes=1))


def edges():
    return set(Dependency.objects.values_list("upstream__name", "job__name"))


def refusal(act) -> str:
    with pytest.raises(InvalidInput) as refused:
        act()
    assert {problem.field for problem in refused.value.problems} <= {"depends_on", "schedule_type", "not_before"}
    return refused.value.sentence


def chain(*names):
    """Each waits for the one before it."""
    jobs = [make_job(names[0], **HOURLY)]
    for name in names[1:]:
        jobs.append(make_job(name, depends_on=[jobs[-1].name]))
    return jobs


def test_upstreams_are_named_or_numbered():
    a, b = make_job("a"), make_job("b")
    make_job("c", depends_on=["a", b.pk])
    make_job("d", depends_on=[str(a.pk)])
    assert edges() == {("a", "c"), ("b", "c"), ("a", "d")}


def test_a_name_of_digits_is_a_name_first():
    first = make_job("other")
    named = make_job(str(first.pk))
    job = make_job("c", depends_on=[str(first.pk)])
    assert list(job.upstreams.all()) == [named]


def test_a_job_that_waits_starts_nothing_when_made():
    make_job("a")
    create_job({"name": "b", "command": "true", "depends_on": ["a"]}, actor="ada", now=NOW)
    assert not Instance.objects.exists()


def test_unknown_upstream_is_refused():
    assert 'no job "ghost"' in refusal(lambda: make_job("b", depends_on=["ghost"]))
    assert not Job.objects.exists()


@pytest.mark.parametrize("given", ["a", {"a": 1}, [1.5], [None], [True], [[]], ["x" * 201], [0], [2**80]])
def test_what_is_no_list_of_jobs_is_refused(given):
    refusal(lambda: make_job("b", depends_on=given))


def test_a_job_cannot_wait_for_itself():
    job = make_job("a")
    assert "cannot wait for itself" in refusal(lambda: change(job, depends_on=["a"]))
    assert edges() == set()


def test_a_circle_is_refused_with_its_way():
    a, _, c = chain("a", "b", "c")
    change(a, schedule_type="once")
    assert "a -> b -> c -> a" in refusal(lambda: change(a, depends_on=[c.pk]))
    assert edges() == {("a", "b"), ("b", "c")}


def test_a_schedule_of_its_own_is_refused():
    make_job("a", **HOURLY)
    assert "no schedule of its own" in refusal(lambda: make_job("b", depends_on=["a"], **HOURLY))
    assert not Job.objects.filter(name="b").exists()


def test_roots_with_different_schedules_are_refused():
    make_job("a", **HOURLY)
    make_job("b", schedule_type="daily", schedule_expression="02:00")
    said = refusal(lambda: make_job("c", depends_on=["a", "b"]))
    assert "a runs cron 0 * * * *" in said
    assert "b daily 02:00" in said


def test_roots_with_other_phases_are_refused():
    every = {"schedule_type": "interval", "schedule_expression": "5m"}
    make_job("a", **every)
    make_job("b", now=later(seconds=30), **every)
    assert "same start_date" in refusal(lambda: make_job("c", depends_on=["a", "b"]))


def test_hashed_moments_cannot_be_shared():
    hashed = {"schedule_type": "cron", "schedule_expression": "H 3 * * *"}
    make_job("a", **hashed)
    make_job("b", **hashed)
    assert "H means" in refusal(lambda: make_job("c", depends_on=["a", "b"]))


def test_an_edit_that_makes_a_second_root_is_refused():
    chain("a", "b", "c")
    change(Job.objects.get(name="c"), depends_on=["a", "b"])
    assert "share one schedule" in refusal(lambda: change(Job.objects.get(name="b"), depends_on=[]))
    assert ("a", "b") in edges()


def joined():
    a, b = make_job("a", **HOURLY), make_job("b", **HOURLY)
    return a, b, make_job("c", depends_on=["a", "b"])


def test_the_schedule_of_one_root_is_that_of_all():
    a, b, _ = joined()
    changed = change(a, schedule_type="interval", schedule_expression="2h")
    assert changed.with_it == ("b",)
    rows = Schedule.objects.filter(job__in=[a, b])
    assert len(set(rows.values_list("type", "expression", "anchor_at", "next_at"))) == 1
    assert Job.objects.get(pk=b.pk).revision == b.revision + 1
    assert Event.objects.filter(kind="job.changed", job_id=b.pk).count() == 1


def test_roots_lose_their_schedule_together():
    a, b, _ = joined()
    change(b, schedule_type="once")
    assert set(Schedule.objects.filter(job__in=[a, b]).values_list("type", "next_at")) == {("once", None)}


def test_roots_get_a_schedule_together():
    make_job("a"), make_job("b"), make_job("c", depends_on=["a", "b"])
    change(Job.objects.get(name="a"), **HOURLY)
    assert Schedule.objects.filter(expression="0 * * * *").count() == 2


def test_several_roots_cannot_count_from_an_end():
    a, _, _ = joined()
    change(a, depends_on=[])
    assert "H means" in refusal(lambda: change(a, schedule_expression="H * * * *"))


def test_roots_are_paused_and_resumed_together():
    a, b, c = joined()
    assert pause_job(a.pk, actor="ada", now=NOW).with_it == ("b",)
    assert set(Job.objects.filter(paused_at=None)) == {c}
    assert resume_job(b.pk, actor="ada", now=later(hours=1)).with_it == ("a",)
    assert not Job.objects.exclude(paused_at=None).exists()


def test_a_dependent_is_paused_alone():
    _, _, c = joined()
    pause_job(c.pk, actor="ada", now=NOW)
    assert set(Job.objects.exclude(paused_at=None)) == {c}


def test_paused_and_active_roots_are_not_joined():
    a = make_job("a")
    make_job("b")
    pause_job(a.pk, actor="ada", now=NOW)
    assert "a is paused and b is not" in refusal(lambda: make_job("c", depends_on=["a", "b"]))


def test_an_edit_of_something_else_keeps_upstreams():
    _, b = chain("a", "b")
    change(b, upstream_rule="all_done", not_before="08:30")
    change(b, description="changed")
    row = Job.objects.get(pk=b.pk)
    assert (row.upstream_rule, row.not_before, edges()) == ("all_done", "08:30", {("a", "b")})


@pytest.mark.parametrize(("field", "value"), [("upstream_rule", "some"), ("not_before", "25:00"), ("not_before", 8)])
def test_rules_that_are_none_are_refused(field, value):
    chain("a", "b")
    with pytest.raises(InvalidInput):
        change(Job.objects.get(name="b"), **{field: value})


def test_deleting_asks_who_waits():
    a, _ = chain("a", "b")
    with pytest.raises(Refused, match="b waits for a; delete that together with it"):
        delete_job(a.pk, actor="ada", now=NOW)
    assert delete_job(a.pk, actor="ada", now=NOW, release=True).gone
    assert edges() == set()
    kinds = list(Event.objects.order_by("-pk").values_list("kind", flat=True)[:3])
    assert kinds == ["job.deleted", "job.delete_requested", "job.changed"]


def test_what_waits_may_be_deleted_together_with_it():
    a, *_ = chain("a", "b", "c")
    ids = list(Job.objects.order_by("pk").values_list("pk", flat=True))
    with pytest.raises(Refused, match="b waits for a"):
        delete_job(a.pk, actor="ada", now=NOW, among=lambda: ids[:2])  # c waits for what would go
    for job_id in ids:
        assert delete_job(job_id, actor="ada", now=NOW, among=lambda: ids).gone


def test_deleting_never_leaves_roots_apart():
    chain("a", "b", "c", "d")
    change(Job.objects.get(name="d"), depends_on=["a", "c"])
    with pytest.raises(Refused, match="cannot go on as it is"):
        delete_job(Job.objects.get(name="b").pk, actor="ada", now=NOW, release=True)


def test_deleting_waits_for_what_has_not_ended():
    a, _ = chain("a", "b")
    make_instance(a, "queued")
    with pytest.raises(Refused, match="not ended"):
        delete_job(a.pk, actor="ada", now=NOW, release=True)


def test_a_dependent_has_no_retries_by_itself():
    assert [job.max_retries for job in chain("a", "b")] == [0, 0]
    assert make_job("c").max_retries == 3
    assert change(Job.objects.get(name="c"), depends_on=["a"]).changed == ("max_retries", "upstreams")
