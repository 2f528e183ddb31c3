"""Field cases of schedules that are edited, paused and run: actions, the real store, an engine under a moved clock."""

from datetime import UTC, datetime, timedelta
from itertools import count
from zoneinfo import ZoneInfo

import pytest

from jobs.actions import InvalidInput, change_job, create_job, pause_job, preview, resume_job
from jobs.core.cores import CoreManager
from jobs.core.engine import Engine
from jobs.core.inputs import Ended
from jobs.core.order import ByPriority
from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind, Status
from jobs.models import Instance, Job, Node, Schedule
from jobs.service.passes import run_pass
from jobs.store import horizon
from jobs.store.orm import OrmStore
from tests.actions.places import make_job

pytestmark = pytest.mark.django_db(transaction=True)

YEAR = datetime(2026, 1, 1, tzinfo=UTC)
HOURLY = {"schedule_type": "cron", "schedule_expression": "0 * * * *"}
TOKENS = count()


def at(hour: int, minute: int = 0, day: int = 1) -> datetime:
    return datetime(2026, 1, day, hour, minute, tzinfo=UTC)


def run(now: datetime) -> None:
    """One pass of a service that has just been started, in which whatever starts also ends."""
    node = Node.objects.get_or_create(name="here")[0]
    store = OrmStore(node.pk, node.name)
    manager = CoreManager(range(4), overcommit=1.0)
    engine = Engine(manager, order=ByPriority(), new_token=lambda: f"t{next(TOKENS)}", uniform=lambda _, high: high)
    done = run_pass(engine, store, now, horizon.load(now)[1], {})
    while done.starts:
        ends = [Ended(s.instance_id, s.token, Outcome(OutcomeKind.SUCCESS, now)) for s in done.starts]
        done = run_pass(engine, store, now, ends, {})


def run_until(until: datetime) -> None:
    """From fire to fire."""
    while (due := Schedule.objects.filter(next_at__lte=until).order_by("next_at").first()) is not None:
        run(due.next_at + timedelta(milliseconds=300))


def fires(job: Job, zone: str = "UTC") -> list[str]:
    found = Instance.objects.filter(job=job).order_by("logical_at").values_list("logical_at", flat=True)
    return [moment.astimezone(ZoneInfo(zone)).isoformat() for moment in found]


def edit(job: Job, now: datetime, **patch: object) -> None:
    change_job(job.pk, patch, actor="ada", now=now)


def next_at() -> datetime | None:
    return Schedule.objects.get().next_at


def test_edit_does_not_rearm_what_ran():
    job = make_job(now=YEAR, start_date="2026-05-01T00:00:00+00:00")
    run_until(datetime(2026, 6, 1, tzinfo=UTC))
    edit(job, datetime(2026, 6, 2, tzinfo=UTC), description="edited")
    run_until(datetime(2027, 1, 1, tzinfo=UTC))
    assert fires(job) == ["2026-05-01T00:00:00+00:00"]
    assert next_at() is None


def test_pause_keeps_the_phase():
    quarter = {"schedule_type": "interval", "schedule_expression": "900", "start_date": "2026-01-01T10:07:00+00:00"}
    job = make_job(now=at(10), **quarter)
    run_until(at(10, 30))
    pause_job(job.pk, actor="ada", now=at(10, 30))
    resume_job(job.pk, actor="ada", now=at(12))
    run_until(at(12, 40))
    assert fires(job)[2:] == [f"2026-01-01T12:{minute}:00+00:00" for minute in ("07", "22", "37")]


def test_edit_of_the_hour_fires_only_then():
    job = make_job(now=at(9), schedule_type="cron", schedule_expression="0 13 * * *")
    edit(job, at(12, 20), schedule_expression="0 16 * * *")
    assert next_at() == at(16)
    run(at(12, 21))
    assert fires(job) == []


def test_change_of_zone_moves_the_future():
    job = make_job(now=at(9), catch_up="all", **HOURLY)
    run_until(at(12))
    edit(job, at(12, 20), timezone="America/New_York")
    run(at(12, 21))
    assert fires(job) == [f"2026-01-01T{hour}:00:00+00:00" for hour in (10, 11, 12)]
    assert next_at() == at(13)


def test_enabling_starts_nothing():
    """bug-028, time-104."""
    job = make_job(now=at(9, 30), catch_up="all", **HOURLY)
    pause_job(job.pk, actor="ada", now=at(10, 50))
    resume_job(job.pk, actor="ada", now=at(12, 10))
    run(at(12, 11))
    assert fires(job) == []
    assert next_at() == at(13)


def test_later_hour_runs_once_that_day():
    """bug-029."""
    job = make_job(now=at(9), schedule_type="cron", schedule_expression="30 13 * * *")
    run_until(at(14))
    edit(job, at(12, 20, day=2), schedule_expression="0 16 * * *")
    assert next_at() == at(16, day=2)
    run_until(at(23, day=2))
    assert fires(job) == ["2026-01-01T13:30:00+00:00", "2026-01-02T16:00:00+00:00"]


def test_other_default_zone_floods_nothing(settings):
    """bug-032: a stored schedule has its own zone, and a new one only moves what is to come."""
    job = make_job(now=at(9), schedule_type="cron", schedule_expression="30 16 * * *")
    run_until(at(17))
    settings.DEFAULT_TIME_ZONE = "America/New_York"
    run(at(18))
    assert fires(job) == ["2026-01-01T16:30:00+00:00"]
    edit(job, at(18), timezone="America/New_York")
    run_until(at(23, 59))
    assert fires(job) == ["2026-01-01T16:30:00+00:00", "2026-01-01T21:30:00+00:00"]


def test_job_is_saved_before_clocks_change():
    """bug-034."""
    fields = {"schedule_type": "cron", "schedule_expression": "0 2 * * *", "timezone": "Europe/Copenhagen"}
    now = datetime(2018, 10, 26, 12, tzinfo=UTC)
    job = make_job(now=now, **fields)
    found = [fire.isoformat() for fire in preview(fields | {"count": 4}, now=now).fires]
    assert found.count("2018-10-28T02:00:00+02:00") == 1
    run_until(datetime(2018, 10, 30, 1, 30, tzinfo=UTC))
    assert fires(job, "Europe/Copenhagen") == found


def test_no_twins_after_clocks_change():
    """bug-035."""
    job = make_job(now=datetime(2022, 10, 28, tzinfo=UTC), schedule_type="cron", schedule_expression="0 0 * * *",
                   timezone="Europe/London")  # fmt: skip
    run_until(datetime(2022, 11, 1, 12, tzinfo=UTC))
    assert fires(job, "Europe/London") == [
        "2022-10-29T00:00:00+01:00", "2022-10-30T00:00:00+01:00", "2022-10-31T00:00:00+00:00",
        "2022-11-01T00:00:00+00:00",
    ]  # fmt: skip


def test_noon_stays_noon_after_clocks_change():
    """bug-036."""
    job = make_job(now=datetime(2013, 10, 22, tzinfo=UTC), schedule_type="cron", schedule_expression="0 12 * * 1",
                   timezone="Europe/Amsterdam")  # fmt: skip
    run_until(datetime(2013, 10, 30, tzinfo=UTC))
    assert fires(job, "Europe/Amsterdam") == ["2013-10-28T12:00:00+01:00"]


@pytest.mark.parametrize("expression", ["0 0 30 2 *", "15/0 * * * *"])
def test_line_that_never_fires_is_refused(expression):
    """bug-061."""
    fields = {"schedule_type": "cron", "schedule_expression": expression}
    for ask in (lambda: preview(fields, now=YEAR), lambda: make_job(**fields)):
        with pytest.raises(InvalidInput) as refusal:
            ask()
        assert [problem.field for problem in refusal.value.problems] == ["schedule_expression"]


def test_second_job_of_a_name_is_refused():
    """bug-062."""
    make_job("backup", now=at(9), **HOURLY)
    with pytest.raises(InvalidInput, match="already"):
        create_job({"name": "backup", "command": "true", **HOURLY}, actor="ada", now=at(9))
    run_until(at(11, 30))
    assert Instance.objects.count() == 2


def test_late_ones_wait_their_turn():
    """time-106 on the store."""
    job = make_job(now=at(10, 5), catch_up="all", catch_up_limit=10, **HOURLY)
    run(at(14, 30))
    assert fires(job) == [f"2026-01-01T{hour}:00:00+00:00" for hour in (11, 12, 13, 14)]
    assert set(Instance.objects.values_list("status", flat=True)) == {Status.SUCCESS}


def test_two_services_make_one_of_a_date():
    """time-107 on the store: the row is there, and the service that wrote it is not."""
    job = make_job(now=at(10, 30), **HOURLY)
    run(at(11))
    Schedule.objects.update(next_at=at(11))  # as if the next had been lost
    run(at(11, 0) + timedelta(seconds=20))
    assert fires(job) == ["2026-01-01T11:00:00+00:00"]
