"""What no column holds is refused by every form and search, and never a failure of the server."""

import re
from urllib.parse import quote

import pytest
from django.urls import get_resolver

from dashboard.formfields import DEFAULTS, FIELDS
from jobs.actions.calendarlines import CALENDAR_TEXTS
from jobs.actions.limits import LIMIT_FIELDS
from jobs.models import Calendar, Job, Limit
from tests.actions.places import HOURLY, make_job

pytestmark = pytest.mark.django_db
NUL = "a\0b"


def addresses(**parts):
    patterns = [str(pattern.pattern) for pattern in get_resolver("dashboard.urls").url_patterns]
    return ["/" + re.sub(r"<\w+:(\w+)>", lambda found: str(parts[found[1]]), pattern) for pattern in patterns]


@pytest.mark.parametrize("field", FIELDS)
def test_form_of_a_job_refuses_it(visitor, field):
    whole = DEFAULTS | {"name": "new", "runs": "command", "command": "true", "when": "now", "timezone": "UTC"}
    response = visitor.post("/jobs/new/", whole | {field: NUL})
    assert response.status_code in (302, 422)
    if response.status_code == 302:  # an input of a choice that was not made
        assert NUL not in str(Job.objects.values())


@pytest.mark.parametrize(("page", "fields"), [("/calendars/new/", CALENDAR_TEXTS), ("/limits/", LIMIT_FIELDS)])
def test_other_forms_refuse_it(visitor, page, fields):
    whole = {"/calendars/new/": {"name": "x"}, "/limits/": {"kind": "tag", "name": "x", "maximum": "1"}}
    for field in fields:
        assert visitor.post(page, whole[page] | {field: NUL}).status_code == 422, field


def test_form_that_is_too_large_is_told_so(visitor):
    response = visitor.post("/jobs/new/", {"name": "new", "environment": f"A={'x' * 3_000_000}"})
    assert response.status_code == 400
    assert "larger than a form may be, which is 2.5 MB in all" in response.content.decode()
    assert not Job.objects.exists()


@pytest.mark.usefixtures("postgres_database")  # the one that raises
def test_no_address_fails_of_it(client, django_user_model):
    client.force_login(django_user_model.objects.create_user("ann"))
    job = make_job(**HOURLY)
    calendar = Calendar.objects.create(name="ops")
    limit = Limit.objects.create(kind="rate", name="api", rate_per_second=1, burst=1)
    names = ("q", "sort", "state", "type", "status", "job", "tag", "node", "before", "after", "topic", "search", "page")
    posted = dict.fromkeys(("first", "last", "concurrency", "name", "tag", "action", "ids", "next", "form_mark"), NUL)
    for address in addresses(
        job_id=job.pk,
        calendar_id=calendar.pk,
        limit_id=limit.pk,
        instance_id=1,
        node_id=1,
        backfill_id=1,
        operation_id=1,
        secret_id=1,
        attempt=1,
        name=quote(NUL),
    ):
        assert client.get(address, dict.fromkeys(names, NUL)).status_code < 500, address
        assert client.get(address, {"q": NUL}).status_code < 500, address
        assert client.post(address, posted).status_code < 500, address
