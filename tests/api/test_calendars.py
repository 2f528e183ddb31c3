import pytest
from django.utils import timezone

from jobs.models import Calendar, Event, Schedule
from tests.actions.places import HOURLY, make_job

pytestmark = pytest.mark.django_db

OPS = {
    "name": "ops", "timezone": "Europe/Berlin", "business_days": "mon-fri", "holidays": ["2026-12-25"],
    "blackouts": [{"name": "backup", "days": "mon-sun", "from": "22:00", "to": "06:00"}],
}  # fmt: skip


def test_calendar_reads_back_in_words_with_its_closures(api):
    made = api.send("calendars", **OPS)
    assert made.status_code == 201
    calendar = api.get(f"calendars/{made.json()['calendar_id']}").json()
    assert {name: calendar[name] for name in OPS} == OPS
    assert calendar["description"].startswith("closed on days other than Monday to Friday")
    assert len(calendar["closures"]) == 5
    assert calendar["closures"][0]["ends"] > timezone.now().isoformat()[:10]


def test_calendars_are_listed_by_name_with_their_users(api):
    for name in ("zeta", "alpha"):
        api.send("calendars", name=name, business_days="mon-fri")
    make_job("by it", now=timezone.now(), calendar="zeta", **HOURLY)
    assert [(one["name"], one["used_by"]) for one in api.get("calendars").json()] == [("alpha", 0), ("zeta", 1)]


def test_job_names_its_calendar(api):
    api.send("calendars", **OPS)
    made = api.send("jobs", name="n", command="true", calendar="ops", calendar_action="move", **HOURLY)
    job = api.get(f"jobs/{made.json()['job_id']}").json()
    assert (job["calendar"], job["calendar_action"], job["overlap"]) == ("ops", "move", "skip")
    assert job["schedule"].endswith("later if calendar 'ops' is closed")
    edited = api.edit(f"jobs/{job['job_id']}", calendar=None).json()
    assert (edited["calendar"], edited["changed"]) == (None, ["schedule"])


def test_refused_calendar_names_its_field(api, problem):
    refusal = problem(api.send("calendars", name="x", timezone="Mars/Phobos"), 422)
    assert [error["field"] for error in refusal["errors"]] == ["timezone"]


def test_calendar_in_use_stays(api, problem):
    number = api.send("calendars", **OPS).json()["calendar_id"]
    make_job("nightly", now=timezone.now(), calendar="ops", **HOURLY)
    assert "nightly" in problem(api.delete(f"calendars/{number}"), 409)["detail"]
    Schedule.objects.update(calendar=None)
    assert api.delete(f"calendars/{number}").json()["status"] == "deleted"
    problem(api.get(f"calendars/{number}"), 404)


def test_edit_of_a_revision_that_is_gone_is_refused(api, problem):
    made = api.send("calendars", name="ops").json()
    where = f"calendars/{made['calendar_id']}?revision={made['revision']}"
    after = api.edit(where, holidays=["2026-12-25"]).json()
    assert after["revision"] != made["revision"]
    assert "Calendar ops was changed by somebody else" in problem(api.edit(where, holidays=[]), 409)["detail"]
    assert Calendar.objects.get().definition == {"holidays": ["2026-12-25"]}


def test_change_by_the_api_is_followed(api):
    number = api.send("calendars", name="ops").json()["calendar_id"]
    job = make_job("nightly", now=timezone.now(), calendar="ops", **HOURLY)
    api.edit(f"calendars/{number}", holidays=["2026-12-25"])
    assert Calendar.objects.get().definition == {"holidays": ["2026-12-25"]}
    assert list(Event.objects.filter(job_id=job.pk).values_list("kind", flat=True)) == ["job.created", "job.changed"]


def test_calendars_cost_a_fixed_number_of_queries(api, django_assert_num_queries):
    api.get("calendars")
    for n in range(5):
        api.send("calendars", name=f"c{n}", business_days="mon-fri")
        make_job(f"j{n}", now=timezone.now(), calendar=f"c{n}", **HOURLY)
    with django_assert_num_queries(2):
        assert len(api.get("calendars").json()) == 5
    for path, queries in (("jobs", 4), ("jobs/scheduled", 2)):
        with django_assert_num_queries(queries):
            assert len(api.get(path).json()) == 5
