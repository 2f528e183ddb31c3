"""The finer choices of a schedule on pages: the form's fold, the preview, the job's page, calendars."""

from datetime import date, timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs import actions
from jobs.core.zones import tzdata_version
from jobs.models import Instance, Job, Schedule
from jobs.store.events import NewEvent, record
from tests.dashboard.places import NAUGHTY
from tests.dashboard.test_edit_job import make, save, shown
from tests.dashboard.test_pages import text
from tests.waiting import until

pytestmark = pytest.mark.django_db

CHOSEN = {
    "overlap": "queue", "queue_bound": "4", "catch_up": "all", "catch_up_limit": "9", "misfire_grace_seconds": "30",
    "jitter_seconds": "5", "gap": "skip", "fold": "both", "calendar_action": "move",
}  # fmt: skip
NEW = {"runs": "command", "command": "date", "name": "hello", "when": "daily", "schedule_expression": "02:30"}


def make_calendar(name="ops", **fields):
    actions.create_calendar({"name": name, **fields}, actor="ann", now=timezone.now())


def preview(visitor, **fields):
    return visitor.post("/jobs/preview/", {"timezone": "Europe/Berlin"} | fields).content.decode()


def test_form_stores_every_choice(visitor):
    make_calendar(business_days="mon-fri")
    visitor.post("/jobs/new/", NEW | CHOSEN | {"calendar": "ops"})
    schedule = Schedule.objects.select_related("calendar").get()
    found = {name: f"{getattr(schedule, name)}".removesuffix(".0") for name in CHOSEN}
    assert found == CHOSEN
    assert schedule.calendar.name == "ops"


def test_delay_and_its_first_run_are_chosen_by_hand(visitor):
    visitor.post("/jobs/new/", NEW | {"when": "fixed_delay", "schedule_expression": "15m", "first_at_once": "yes"})
    assert Schedule.objects.get().type == "fixed_delay"
    assert Instance.objects.count() == 1


def test_hidden_inputs_are_not_sent_on(visitor):
    visitor.post("/jobs/new/", NEW | CHOSEN | {"when": "interval", "schedule_expression": "5m"})
    assert (Schedule.objects.get().gap, Schedule.objects.get().overlap) == ("default", "queue")
    visitor.post("/jobs/new/", NEW | {"name": "b", "when": "by_hand"} | CHOSEN)
    assert Job.objects.count() == 2


def test_edit_shows_and_keeps_every_choice(visitor):
    make_calendar()
    job = make(overlap="replace", catch_up="skip", calendar="ops", jitter_seconds=2.5, misfire_grace_seconds=7)
    texts = shown(visitor, job)
    assert (texts["overlap"], texts["calendar"], texts["jitter_seconds"]) == ("replace", "ops", "2.5")
    save(visitor, job, description="edited")
    assert Job.objects.get().revision == job.revision + 1
    save(visitor, job, overlap="skip", calendar="")
    schedule = Schedule.objects.get()
    assert (schedule.overlap, schedule.calendar, schedule.catch_up) == ("skip", None, "skip")


def test_fault_in_a_choice_opens_its_fold(visitor):
    answer = visitor.post("/jobs/new/", NEW | {"jitter_seconds": "100000"})
    assert answer.context["open_folds"] == ["fires"]
    assert not Job.objects.exists()


def test_bad_choice_is_told_by_its_label(visitor):
    page = visitor.post("/jobs/new/", NEW | {"misfire_grace_seconds": "0"}).content.decode()
    assert "Missed after seconds is 0, expected at least 1" in page
    assert "misfire_grace_seconds is" not in page


def test_preview_marks_what_clocks_do(visitor):
    end_of_march = date(timezone.now().year + 1, 3, 31)
    sunday = end_of_march - timedelta(days=end_of_march.isoweekday() % 7)
    page = preview(visitor, when="daily", schedule_expression="02:30", start_date=f"{sunday - timedelta(days=1)}")
    assert "Clocks go forward: 02:30 does not exist, runs at 03:00" in page


def test_preview_lists_what_is_left_out(visitor):
    make_calendar(business_days="mon-fri")
    fields = {"when": "daily", "schedule_expression": "12:00", "calendar": "ops"}
    page = preview(visitor, **fields)
    weekends = page.count("no business day of calendar")
    assert 1 <= weekends <= 2  # one where the ten days begin on a Monday
    moved = preview(visitor, **fields, calendar_action="move")
    assert "Moved out of" in moved


def test_preview_of_a_passed_moment_says_so(visitor):
    passed = (timezone.now() - timedelta(hours=1)).isoformat()
    assert "has passed; give a moment to come" in preview(visitor, when="at", start_date=passed)


def test_preview_takes_the_minute_that_has_begun(visitor):
    def previewed():
        begun = timezone.now().replace(second=0, microsecond=0)
        return preview(visitor, when="at", start_date=begun.isoformat(), timezone="UTC")

    until(lambda: "Once, at" in previewed())  # at once, unless the next minute began meanwhile


def test_preview_of_what_is_over_is_no_fault(visitor):
    job = make(schedule_type="daily", schedule_expression="12:00")
    Schedule.objects.filter(job=job).update(end_at=timezone.now() - timedelta(days=1), next_at=None)
    stored = shown(visitor, job) | {"job": str(job.pk)}
    assert "It will not fire again" in preview(visitor, **stored)
    assert "would never fire" in preview(visitor, **stored | {"schedule_expression": "13:00"})


def test_spread_fires_say_when_they_start(visitor):
    job = make(schedule_type="daily", schedule_expression="12:00", jitter_seconds=600)
    fires = visitor.get(f"/jobs/{job.pk}/").context["regions"]["schedule"][0][1].fires
    assert all(timedelta(0) <= fire.starts_at - fire.at < timedelta(seconds=600) for fire in fires)
    assert len({fire.starts_at - fire.at for fire in fires}) > 1
    assert text(visitor, f"/jobs/{job.pk}/").count(" later") >= len(fires)


def test_preview_of_a_stored_job_knows_its_hash(visitor):
    job = make(schedule_type="cron", schedule_expression="H H * * *")
    fields = {"when": "cron", "schedule_expression": "H H * * *"}
    assert "H stands for" in preview(visitor, **fields)
    known = preview(visitor, **fields, job=str(job.pk))
    assert "H stands for" not in known
    assert f"{job.schedule.next_at.astimezone(timezone.get_fixed_timezone(60)):%M:%S}" in known


def test_page_of_a_job_says_what_was_chosen(visitor):
    job = make(overlap="queue", queue_bound=4, catch_up="all", jitter_seconds=30)
    page = visitor.get(f"/jobs/{job.pk}/").content.decode()
    assert "up to 4 wait behind it" in page
    assert "of missed fires the latest 3 are made up for" in page.lower()
    assert "Each up to 30 seconds later" in page


def test_page_of_a_job_lists_fires_without_a_run(visitor):
    job = make()
    data = {"logical_at": "2026-05-04T01:30:00+00:00", "code": "overlap", "reason": f"overlap {NAUGHTY}", "count": 3}
    with transaction.atomic():
        record([NewEvent(timezone.now(), "schedule.skipped", job.pk, actor="node:a", data=data)])
    page = visitor.get(f"/jobs/{job.pk}/").content.decode()
    assert "Fires that made no instance" in page
    assert "and 2 more" in page
    assert NAUGHTY not in page


def test_delay_under_way_says_that_its_next_follows(visitor):
    job = make(schedule_type="fixed_delay", schedule_expression="15m", first_at_once=True)
    page = visitor.get(f"/jobs/{job.pk}/").content.decode()
    assert "follows from the end of the instance that is under way" in page


def test_schedules_page_has_calendars_in_words(visitor):
    make_calendar(NAUGHTY, holidays=["2026-12-25"], timezone="Europe/Berlin")
    make(calendar=NAUGHTY)
    page = visitor.get("/schedules/").content.decode()
    assert "Closed on 1 holiday (Europe/Berlin)" in page
    assert "used by 1 schedule" in page
    assert NAUGHTY not in page
    assert f"tzdata {tzdata_version()}" in page


def test_more_calendars_cost_the_page_no_more_queries(visitor):
    def queries(*numbers):
        for n in numbers:
            make_calendar(f"c{n}", business_days="mon-fri")
            make(name=f"j{n}", calendar=f"c{n}")
        with CaptureQueriesContext(connection) as captured:
            visitor.get("/schedules/")
        return len(captured)

    queries(0)
    assert queries(1) == queries(*range(2, 9))


def test_form_without_calendars_leads_to_a_new_one(visitor):
    assert 'href="/calendars/new/"' in visitor.get("/jobs/new/").content.decode()
