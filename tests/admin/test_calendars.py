import json

import pytest
from django.utils import timezone

from jobs.models import Calendar, Schedule
from tests.actions.places import HOURLY, make_job

pytestmark = pytest.mark.django_db

LIST = "/admin/jobs/calendar/"


def save(client, path, name="ops", **closed):
    return client.post(path, {"name": name, "closed": json.dumps(closed), "_save": "Save"})


def test_calendar_is_made_and_changed(admin_client):
    assert save(admin_client, f"{LIST}add/", business_days="mon-fri", timezone="UTC").status_code == 302
    calendar = Calendar.objects.get()
    make_job("nightly", now=timezone.now(), calendar="ops", **HOURLY)
    watched = Schedule.objects.get().watched_from
    assert save(admin_client, f"{LIST}{calendar.pk}/change/", holidays=["2026-12-25"]).status_code == 302
    assert Calendar.objects.get().definition == {"holidays": ["2026-12-25"]}
    assert Schedule.objects.get().watched_from > watched
    assert "closed on 1 holiday" in admin_client.get(LIST).content.decode()


@pytest.mark.parametrize("closed", ["{", "[]", "[" * 100_000, '{"holidays": ["soon"]}', '{"colour": "red"}'])
def test_what_is_no_calendar_is_said_beside_it(admin_client, closed):
    answer = admin_client.post(f"{LIST}add/", {"name": "ops", "closed": closed})
    assert answer.status_code == 200
    assert answer.context["adminform"].form.errors["closed"]
    assert not Calendar.objects.exists()


def test_used_calendar_is_not_deleted(admin_client):
    for name in ("used", "free"):
        save(admin_client, f"{LIST}add/", name)
    make_job("nightly", now=timezone.now(), calendar="used", **HOURLY)
    ids = list(Calendar.objects.values_list("pk", flat=True))
    answer = admin_client.post(LIST, {"action": "delete_calendars", "_selected_action": ids}, follow=True)
    assert "The schedules of nightly go by this calendar" in answer.content.decode()
    assert list(Calendar.objects.values_list("name", flat=True)) == ["used"]


def test_job_is_given_all_choices_in_admin(admin_client):
    from tests.admin.test_jobs import save as save_job

    save(admin_client, f"{LIST}add/", "ops", business_days="mon-fri")
    job = make_job("nightly", now=timezone.now(), **HOURLY)
    chosen = {"overlap": "queue", "queue_bound": "4", "catch_up": "all", "catch_up_limit": "9", "calendar": "ops",
              "calendar_action": "move", "gap": "skip", "fold": "both", "jitter_seconds": "5",
              "misfire_grace_seconds": "30"}  # fmt: skip
    save_job(admin_client, f"/admin/jobs/job/{job.pk}/change/", **chosen)
    schedule = Schedule.objects.select_related("calendar").get()
    found = {name: str(getattr(schedule, name)) for name in chosen}
    assert found == chosen | {"jitter_seconds": "5.0", "misfire_grace_seconds": "30.0"}
