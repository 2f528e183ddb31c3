"""Whatever is sent, the answer is a success or a problem with a sentence; never a failure of the server."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.actions.calendars import CALENDAR_FIELDS
from jobs.actions.preview import PREVIEW_FIELDS
from jobs.actions.submission import FIELDS

pytestmark = pytest.mark.django_db

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(10**30), max_value=10**30)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None), max_size=20)
    | st.text(max_size=20)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
LIKELY = st.sampled_from(
    ["once", "interval", "cron", "daily", "weekly", "5m", "1h30m", "0 * * * *", "*/7 3 29 2 *", "L * * * *", "10:00",
     "mon-fri 10:00", "2026-03-29", "2026-03-29T02:30", "0001-01-01", "9999-12-31T23:59:59-23:59", "Europe/Berlin",
     "Pacific/Apia", "script", "print(1)", "/bin/true", "high", "a@b.org", "http://[", "http://x:99999/", 10**9, 0.5,
     "all", "run_after", "second", "queue", "move", "fixed_delay", [{"days": "mon", "from": "22:00", "to": "06:00"}]]
)  # fmt: skip
# A fixture for all examples is meant.
NO_HEALTH_CHECKS = [HealthCheck.function_scoped_fixture, *settings.default.suppress_health_check]
FUZZ = settings(max_examples=80, deadline=None, suppress_health_check=NO_HEALTH_CHECKS)


def bodies(names):
    return st.dictionaries(st.sampled_from(names) | st.text(max_size=8), LIKELY | VALUES, max_size=8)


def answered(response):
    content = json.loads(response.content)
    assert response.status_code < 500, content
    if response.status_code >= 400:
        assert content["detail"]
        assert all(error["detail"] and error["field"] is not None for error in content["errors"])
    return response


@FUZZ
@given(body=bodies(FIELDS))
def test_any_job_is_taken_or_refused(api, body):
    body = {"name": "x", "command": "true"} | body
    created = answered(api.generic("POST", "jobs", json.dumps(body), content_type="application/json"))
    if created.status_code == 201:
        number = created.json()["job_id"]
        assert api.get(f"jobs/{number}").status_code == 200
        assert api.delete(f"jobs/{number}?cancel=true").status_code == 200


@FUZZ
@given(body=bodies(FIELDS))
def test_any_edit_is_taken_or_refused(api, body):
    first = api.send("jobs", name="edited", command="true", schedule_type="daily", schedule_expression="10:00")
    number = first.json()["job_id"]
    answered(api.generic("PATCH", f"jobs/{number}", json.dumps(body), content_type="application/json"))
    assert api.delete(f"jobs/{number}").status_code == 200


@FUZZ
@given(body=bodies(PREVIEW_FIELDS))
def test_any_preview_is_answered(api, body):
    answered(api.generic("POST", "schedules/preview", json.dumps(body), content_type="application/json"))


@FUZZ
@given(body=bodies(CALENDAR_FIELDS))
def test_any_calendar_is_taken_or_refused(api, body):
    created = answered(api.generic("POST", "calendars", json.dumps(body), content_type="application/json"))
    if created.status_code == 201:
        assert api.delete(f"calendars/{created.json()['calendar_id']}").status_code == 200


@FUZZ
@given(
    query=st.dictionaries(
        st.sampled_from(["job_id", "status", "before", "limit", "name", "tag", "paused", "x"]),
        st.text(max_size=12) | st.integers().map(str),
    )
)
def test_any_query_is_answered(api, query):
    for path in ("jobs", "instances", "jobs/scheduled"):
        response = api.get(f"/api/v1/{path}", query)
        assert response.status_code in (200, 422), response.content
