"""Backfills: what they would make, what they make, and when."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.actions import InvalidInput, NotFound, Refused, cancel_backfill, create_backfill, plan_backfill
from jobs.core.states import Status
from jobs.models import Backfill, Event, Instance, Job
from jobs.progress import progress_of, progress_of_all
from jobs.service.backfills import Backfills
from tests.actions.places import HOURLY, NOW, make_instance, make_job

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
FIRST = NOON - timedelta(hours=9)


@pytest.fixture
def job():
    return make_job("hourly", **HOURLY)


def create(job, first=FIRST, last=NOON, **wish):
    return create_backfill(job.pk, first, last, actor="ada", now=NOW, **wish)


def advance() -> int:
    return Backfills("node:test").advance(NOW)


def dates(**of):
    return list(Instance.objects.filter(**of).order_by("pk").values_list("logical_at", flat=True))


def end_all(status="success"):
    """As the engine would, by way of the moves that are legal."""
    for step in (Status.QUEUED, Status.CANCELLED):
        rows = Instance.objects.filter(status__in=[Status.PENDING, Status.QUEUED])
        ended = NOW if step is Status.CANCELLED else None
        rows.exclude(status=step).update(status=step, ended_at=ended, queued_at=NOW, order_key=1)


def test_a_plan_counts_and_stores_nothing(job):
    make_instance(job, "success", logical_at=NOON)
    make_instance(job, "success", logical_at=NOON + timedelta(minutes=7))
    plan = plan_backfill(job.pk, FIRST, NOON, now=NOW)
    assert (plan.dates, plan.existing, plan.first, plan.last) == (10, 1, FIRST, NOON)
    assert "9 would be made" in plan.sentence(only_missing=True)
    assert not Backfill.objects.exists()


def test_dates_are_made_oldest_first(job):
    create(job, concurrency=2)
    assert (advance(), advance()) == (2, 0)
    end_all()
    advance()
    assert dates() == [FIRST + timedelta(hours=n) for n in range(4)]
    assert set(Instance.objects.values_list("cause", "created_by")) == {("backfill", "ada")}


def test_ten_thousand_dates_are_one_row_each_in_its_turn():
    job = make_job("minutely", schedule_type="cron", schedule_expression="* * * * *")
    backfill = create(job, NOON - timedelta(minutes=9_999), concurrency=3)
    for _ in range(3):
        advance()
    assert (backfill.dates, Instance.objects.count()) == (10_000, 3)


def test_it_is_done_when_all_have_ended(job):
    create(job, NOON - timedelta(hours=1))
    for _ in range(2):
        advance()
        assert Backfill.objects.get().status == "running"
        end_all()
    advance()
    row = Backfill.objects.get()
    assert (row.status, row.made, row.ended_at) == ("done", 2, NOW)
    assert Event.objects.filter(kind="backfill.ended").count() == 1


def test_only_what_is_missing_is_made(job):
    for n in (0, 1, 3):
        make_instance(job, "success", logical_at=FIRST + timedelta(hours=n), generation=0)
    create(job, concurrency=100)
    advance()
    assert len(dates(cause="backfill")) == 7
    assert not Instance.objects.filter(generation=1).exists()


def test_all_of_it_again_is_the_next_generation(job):
    make_instance(job, "success", logical_at=FIRST, generation=0)
    create(job, only_missing=False)
    advance()
    assert Instance.objects.get(cause="backfill").generation == 1


def test_nothing_missing_is_refused(job):
    make_instance(job, "success", logical_at=NOON)
    with pytest.raises(Refused, match="0 would be made"):
        create(job, NOON)


def test_a_workflow_is_backfilled_as_one(job):
    below = make_job("below", depends_on=["hourly"])
    create(below, NOON - timedelta(hours=1))
    advance()
    made = Instance.objects.values_list("job__name", "logical_at")
    assert set(made) == {(name, NOON - timedelta(hours=1)) for name in ("hourly", "below")}


def test_a_new_job_of_a_workflow_gets_its_past(job):
    make_instance(job, "success", logical_at=NOON)
    below = make_job("below", depends_on=["hourly"])
    create(below, NOON)
    advance()
    assert list(Instance.objects.filter(cause="backfill").values_list("job__name", flat=True)) == ["below"]


def test_the_schedule_goes_first(job):
    own = make_instance(job, "queued", cause="schedule", logical_at=NOON)
    create(job)
    assert advance() == 0
    Instance.objects.filter(pk=own.pk).update(status="cancelled", ended_at=NOW)
    assert advance() == 1


def test_cancelled_as_one(job):
    backfill = create(job, concurrency=3)
    advance()
    make_instance(job, "running", backfill=backfill, logical_at=NOON)
    answer = cancel_backfill(backfill.pk, actor="ada", now=NOW)
    assert (answer.cancelled, answer.stopping, advance()) == (3, 1, 0)
    assert not cancel_backfill(backfill.pk, actor="ada", now=NOW).changed
    assert Backfill.objects.get().status == "cancelled"


def test_cancelled_dates_are_not_done(job):
    backfill = create(job, concurrency=3)
    advance()
    first = Instance.objects.order_by("pk")[0]
    Instance.objects.filter(pk=first.pk).update(status="queued", queued_at=NOW, order_key=1)
    Instance.objects.filter(pk=first.pk).update(status="skipped", ended_at=NOW)
    cancel_backfill(backfill.pk, actor="ada", now=NOW)
    backfill.refresh_from_db()
    progress = progress_of(backfill)
    assert progress.done == 1
    assert progress.sentence == "Cancelled: 1 of 10 dates done, 2 cancelled."


def test_a_long_backfill_looks_only_at_what_lives(job):
    create(job, concurrency=2)
    service = Backfills("node:test")
    assert service.advance(NOW) == 2
    with CaptureQueriesContext(connection) as captured:
        assert service.advance(NOW) == 0
    looks = [query["sql"] for query in captured.captured_queries if 'FROM "jobs_instance"' in query["sql"]]
    assert len(looks) == 1
    assert '"backfill_id" =' not in looks[0]
    end_all()
    assert service.advance(NOW) == 2


def test_a_date_that_another_node_made_counts(job):
    create(job, concurrency=2)
    here, there = Backfills("node:here"), Backfills("node:there")
    assert (here.advance(NOW), there.advance(NOW)) == (2, 0)
    end_all()
    assert (there.advance(NOW), here.advance(NOW)) == (2, 0)


def test_a_schedule_that_was_taken_away_ends_it(job):
    create(job)
    schedule = job.schedule
    schedule.type, schedule.expression, schedule.next_at = "once", "", None
    schedule.save()
    advance()
    assert Backfill.objects.get().status == "cancelled"


def test_dates_before_the_start_are_none():
    job = make_job("later", **HOURLY, start_date=NOON.isoformat())
    assert plan_backfill(job.pk, FIRST, NOON, now=NOW).dates == 1


@pytest.mark.parametrize(
    ("first", "last"),
    [(NOON, FIRST), (FIRST, NOON + timedelta(hours=1)), (NOON - timedelta(days=365 * 300), NOON)],
)
def test_windows_that_cannot_be_are_refused(job, first, last):
    with pytest.raises(InvalidInput):
        create(job, first, last)


def test_no_dates_no_backfill():
    with pytest.raises(Refused, match="Only a schedule by the clock"):
        create(make_job("by hand"))
    with pytest.raises(NotFound):
        create(Job(pk=99))


@pytest.mark.parametrize("concurrency", [0, 101, True, "2"])
def test_concurrency_is_a_small_number(job, concurrency):
    with pytest.raises(InvalidInput):
        create(job, concurrency=concurrency)


def test_progress_of_many_is_that_of_each_in_as_many_queries(job):
    for _ in range(3):
        create(job, FIRST, FIRST + timedelta(hours=2), only_missing=False, concurrency=3)
        advance()
        end_all()
        advance()
    create(job, FIRST, FIRST + timedelta(hours=4), only_missing=False, concurrency=3)
    advance()
    first = Instance.objects.filter(status=Status.QUEUED, logical_at=FIRST)
    assert first.update(status=Status.CANCELLED, ended_at=NOW) == 1
    found = list(Backfill.objects.order_by("pk"))
    with CaptureQueriesContext(connection) as few:
        last = progress_of(found[-1])
    with CaptureQueriesContext(connection) as many:
        together = progress_of_all(found)
    assert len(many) == len(few)
    assert together == [*map(progress_of, found[:-1]), last]
    assert last.sentence == "0 of 5 dates done, 1 cancelled; 2 under way."
