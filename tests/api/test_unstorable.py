"""What no column holds (NUL, half of a surrogate pair) is refused in every text, and never a failure of the server."""

import json

import pytest

from jobs.actions.calendars import CALENDAR_FIELDS
from jobs.actions.limits import LIMIT_FIELDS
from jobs.actions.preview import PREVIEW_FIELDS
from jobs.actions.submission import FIELDS
from jobs.api.backfills import FIELDS as BACKFILL_FIELDS
from tests.actions.places import HOURLY, make_job

TEXTS = ["a\0b", "a\ud800b"]
IGNORED = {"created_by"}  # the server knows better, whatever it says
PLACES = {
    "jobs": FIELDS, "calendars": CALENDAR_FIELDS, "limits": LIMIT_FIELDS, "schedules/preview": PREVIEW_FIELDS,
    "jobs/{job}/backfills": BACKFILL_FIELDS, "forecast/what-if": ("job", "at", "schedule_expression", "timezone"),
}  # fmt: skip
WHOLE = {
    "jobs": {"name": "a", "command": "true"}, "calendars": {"name": "a"},
    "limits": {"kind": "tag", "name": "a", "maximum": 1}, "schedules/preview": HOURLY,
    "jobs/{job}/backfills": {"first": "2026-01-01", "last": "2026-01-01"}, "forecast/what-if": {"job": 1},
}  # fmt: skip


@pytest.mark.parametrize("path", PLACES)
def test_every_text_is_refused_by_its_field(api, problem, path):
    job = make_job(**HOURLY)
    for field in set(PLACES[path]) - IGNORED:
        for text in TEXTS:
            for value in (text, [text], {text: text}, [{"name": text, "from": "2026-01-01", "to": "2026-01-02"}]):
                body = json.dumps(WHOLE[path] | {field: value})
                answer = api.post(path.format(job=job.pk), body, content_type="application/json")
                assert answer.status_code in (404, 422), (field, value, answer.content)


@pytest.mark.parametrize("method", ["patch", "post"])
def test_unknown_name_is_no_failure(api, problem, method):
    path = f"jobs/{make_job().pk}" if method == "patch" else "jobs"
    for text in TEXTS:
        problem(getattr(api, method)(path, json.dumps({text: text}), content_type="application/json"), 422)


@pytest.mark.parametrize("address", ["jobs/{}", "instances/{}", "calendars/{}", "limits/{}", "backfills/{}"])
def test_address_is_no_failure(api, address):
    for text in ("%00", "1%00", "%ED%A0%80"):
        assert api.get(address.format(text)).status_code == 404
