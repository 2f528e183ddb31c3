import pytest
from django.utils import timezone

from jobs.actions import change_calendar
from jobs.actions.calendars import revision_of
from jobs.models import Calendar, Schedule
from tests.actions.places import HOURLY, make_job

pytestmark = pytest.mark.django_db

LIST = "/admin/jobs/calendar/"


def save(client, path, name="ops", **texts):
    if not path.endswith("add/"):
        texts = {"revision": revision_of(Calendar.objects.get())} | texts
    return client.post(path, {"name": name, **texts, "_save": "Save"})


def test_calendar_is_made_and_changed(admin_client):
    assert save(admin_client, f"{LIST}add/", business_days="mon-fri", timezone="UTC").status_code == 302
    calendar = Calendar.objects.get()
    make_job("nightly", now=timezone.now(), calendar="ops", **HOURLY)
    watched = Schedule.objects.get().watched_from
    assert save(admin_client, f"{LIST}{calendar.pk}/change/", holidays="2026-12-25\r\n").status_code == 302
    assert Calendar.objects.get().definition == {"holidays": ["2026-12-25"]}
    assert Schedule.objects.get().watched_from > watched
    assert "closed on 1 holiday" in admin_client.get(LIST).content.decode()


def test_edit_of_another_is_not_undone(admin_client):
    save(admin_client, f"{LIST}add/")
    calendar = Calendar.objects.get()
    shown = admin_client.get(f"{LIST}{calendar.pk}/change/").context["adminform"].form.initial["revision"]
    change_calendar(calendar.pk, {"business_days": "mon-fri"}, actor="bob", now=timezone.now())
    answer = save(admin_client, f"{LIST}{calendar.pk}/change/", holidays="2026-12-25", revision=shown)
    assert "This calendar was changed by somebody else meanwhile" in answer.content.decode()
    assert Calendar.objects.get().definition == {"business_days": "mon-fri"}


def test_closed_times_are_lines(admin_client):
    lines = "2026-12-20 to 2027-01-03 freeze\r\nmon-sun 22:00 to 06:00 backup"
    save(admin_client, f"{LIST}add/", blackouts=lines, timezone="Europe/Berlin")
    calendar = Calendar.objects.get()
    assert calendar.definition["blackouts"][1] == {"days": "mon-sun", "from": "22:00", "to": "06:00", "name": "backup"}
    page = admin_client.get(f"{LIST}{calendar.pk}/change/").content.decode()
    assert lines.replace("\r", "") in page
    assert "{" not in page.split('<textarea name="blackouts"')[1].split("</textarea>")[0]


@pytest.mark.parametrize(
    ("field", "text"),
    [("holidays", "soon"), ("timezone", "Mars/Base"), ("business_days", "lundi"), ("blackouts", "now and then"),
     ("blackouts", "mon 01:00 to 02:00 nul\0"), ("name", "taken"), ("name", "")],
)  # fmt: skip
def test_what_is_no_calendar_is_said_at_its_field(admin_client, field, text):
    save(admin_client, f"{LIST}add/", "taken")
    answer = save(admin_client, f"{LIST}add/", **{field: text})
    assert answer.status_code == 200
    assert set(answer.context["adminform"].form.errors) == {field}
    assert Calendar.objects.count() == 1


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
