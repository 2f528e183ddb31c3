"""The pages of calendars: a line for each closed time, and what they do to the schedules that go by them."""

import pytest
from django.utils import timezone

from jobs import actions
from jobs.models import Calendar, Event, Job, Schedule
from tests.dashboard.places import NAUGHTY
from tests.dashboard.test_pages import html, text

pytestmark = pytest.mark.django_db
WINTER = {"name": "ops", "timezone": "Europe/Berlin", "blackouts": "sat,sun 00:00 to 24:00 weekend"}


def make_calendar(visitor, **texts):
    visitor.post("/calendars/new/", WINTER | texts)
    return Calendar.objects.get(name=texts.get("name", "ops"))


def shown(visitor, calendar):
    context = visitor.get(f"/calendars/{calendar.pk}/").context
    return {name: field.value for name, field in context["field"].items()} | {"seen": context["seen"]}


def make_user(**fields):
    raw = {"name": "nightly", "command": "true", "schedule_type": "daily", "schedule_expression": "12:00"}
    raw |= {"calendar": "ops", "timezone": "Europe/Berlin"} | fields
    return Job.objects.get(pk=actions.create_job(raw, actor="ann", now=timezone.now()).job_id)


def test_empty_page_leads_to_a_new_one(visitor):
    assert 'href="/calendars/new/"' in html(visitor, "/calendars/")
    assert "No calendars yet." in text(visitor, "/calendars/")


def test_calendar_is_made_and_listed(visitor):
    calendar = make_calendar(visitor)
    assert calendar.definition["blackouts"] == [{"days": "sat,sun", "from": "00:00", "to": "24:00", "name": "weekend"}]
    assert Event.objects.get(kind="calendar.created").actor == "ann"
    assert "not used" in text(visitor, "/calendars/")
    assert f'href="/calendars/{calendar.pk}/"' in html(visitor, "/schedules/")


def test_refused_calendar_keeps_what_was_typed(visitor):
    response = visitor.post("/calendars/new/", WINTER | {"blackouts": "now and then", "holidays": "soon"})
    page = response.content.decode()
    assert response.status_code == 422
    assert page.count('aria-invalid="true"') == 2
    assert "now and then</textarea>" in page
    assert not Calendar.objects.exists()


def test_change_moves_the_schedules_that_go_by_it(visitor):
    calendar = make_calendar(visitor)
    make_user()
    watched = Schedule.objects.get().watched_from
    visitor.post(f"/calendars/{calendar.pk}/", shown(visitor, calendar) | {"blackouts": ""})
    calendar.refresh_from_db()
    assert calendar.definition == {"timezone": "Europe/Berlin"}
    assert Schedule.objects.get().watched_from > watched


def test_edit_of_another_is_shown_and_not_undone(visitor):
    calendar = make_calendar(visitor)
    mine = shown(visitor, calendar) | {"holidays": "2026-12-25"}
    actions.change_calendar(calendar.pk, {"timezone": "UTC"}, actor="bob", now=timezone.now())
    response = visitor.post(f"/calendars/{calendar.pk}/", mine)
    assert response.status_code == 409
    assert "the calendar was changed by <bdi>bob</bdi> <time" in response.content.decode()
    assert [(clash.label, clash.theirs) for clash in response.context["clashes"]] == [("Time zone", "UTC")]
    both = {name: field.value for name, field in response.context["field"].items()}
    assert visitor.post(f"/calendars/{calendar.pk}/", both | {"seen": response.context["seen"]}).status_code == 302
    stored = Calendar.objects.get().definition
    assert (stored["timezone"], stored["holidays"]) == ("UTC", ["2026-12-25"])


def test_deleted_calendar_gives_back_what_was_typed(visitor):
    calendar = make_calendar(visitor)
    mine = shown(visitor, calendar) | {"holidays": "2026-12-25"}
    actions.delete_calendar(calendar.pk, actor="bob", now=timezone.now())
    response = visitor.post(f"/calendars/{calendar.pk}/", mine)
    page = response.content.decode()
    assert response.status_code == 404
    assert "was deleted meanwhile" in page
    assert "2026-12-25</textarea>" in page
    assert 'action="/calendars/new/"' in page


def test_calendar_changed_and_deleted_within_one_save_is_gone(visitor, monkeypatch):
    calendar = make_calendar(visitor)
    mine = shown(visitor, calendar) | {"holidays": "2026-12-25"}
    change = actions.change_calendar

    def late(calendar_id, *args, **kwargs):
        try:
            change(calendar_id, {"timezone": "UTC"}, actor="bob", now=timezone.now())
            return change(calendar_id, *args, **kwargs)
        finally:
            actions.delete_calendar(calendar_id, actor="bob", now=timezone.now())

    monkeypatch.setattr(actions, "change_calendar", late)
    response = visitor.post(f"/calendars/{calendar.pk}/", mine)
    assert response.status_code == 404
    assert "was deleted meanwhile" in response.content.decode()


@pytest.mark.parametrize(("action", "said"), [("skip", ", skipped"), ("move", ", moved to")])
def test_page_says_what_it_does_next(visitor, action, said):
    calendar = make_calendar(visitor)
    make_user(calendar_action=action)
    shown = text(visitor, f"/calendars/{calendar.pk}/")
    assert shown.count(said) == 3
    assert "nightly" in shown
    assert "weekend" in shown


def test_draft_is_shown_and_not_stored(visitor):
    calendar = make_calendar(visitor)
    make_user()
    draft = WINTER | {"blackouts": "mon 11:00 to 13:00 standup", "check": "1"}
    page = visitor.post(f"/calendars/{calendar.pk}/", draft).content.decode()
    assert "What that would do, if you save it" in page
    assert page.count("standup&#x27;") >= 3
    assert "weekend" in str(Calendar.objects.get().definition)


def test_fixed_delay_has_no_fires_to_tell(visitor):
    calendar = make_calendar(visitor)
    make_user(schedule_type="fixed_delay", schedule_expression="15m")
    assert "Takes none of its fires" in text(visitor, f"/calendars/{calendar.pk}/")


def test_used_calendar_is_not_deleted(visitor):
    calendar = make_calendar(visitor)
    job = make_user()
    assert visitor.post(f"/calendars/{calendar.pk}/delete/").status_code == 409
    actions.change_job(job.pk, {"calendar": None}, actor="ann", now=timezone.now())
    assert visitor.post(f"/calendars/{calendar.pk}/delete/").status_code == 302
    assert not Calendar.objects.exists()
    assert visitor.get(f"/calendars/{calendar.pk}/").status_code == 404


def test_names_are_shown_as_they_are(visitor):
    calendar = make_calendar(visitor, name=NAUGHTY[:100])
    for address in ("/calendars/", f"/calendars/{calendar.pk}/"):
        assert "<img" not in html(visitor, address)
