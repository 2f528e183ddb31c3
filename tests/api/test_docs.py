import re
from pathlib import Path

from jobs.actions.calendars import CALENDAR_FIELDS
from jobs.actions.preview import PREVIEW_FIELDS
from jobs.actions.secrets import SECRET_FIELDS
from jobs.actions.submission import FIELDS
from jobs.api import api as rota_api
from jobs.api.answers import InstanceAnswer
from jobs.api.bodies import CalendarFields, JobFields, PreviewFields, SecretFields
from tests.api.site import sign_in

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def test_description_names_every_field_that_is_taken():
    assert set(JobFields.model_fields) == set(FIELDS)
    assert set(PreviewFields.model_fields) == set(PREVIEW_FIELDS)
    assert set(CalendarFields.model_fields) == set(CALENDAR_FIELDS)
    assert set(SecretFields.model_fields) == set(SECRET_FIELDS)


def test_documents_name_every_field_and_event():
    api_text, events_text = ((DOCS / name).read_text() for name in ("api.md", "events.md"))
    assert not [field for field in (*FIELDS, *PREVIEW_FIELDS, *CALENDAR_FIELDS) if f"`{field}`" not in api_text]
    assert not [field for field in InstanceAnswer.model_fields if f"`{field}`" not in api_text]
    sources = "".join(path.read_text() for room in ("store", "service") for path in (ROOT / "jobs" / room).glob("*.py"))
    rooms = "job|schedule|calendar|instance|attempt|node|limit|secret|clock|backfill"
    kinds = set(re.findall(rf'"((?:{rooms})\.[a-z_]+)"', sources)) - {"node.json"}
    assert not [kind for kind in kinds if f"`{kind}`" not in events_text]


def test_description_names_every_address():
    paths = rota_api.get_openapi_schema()["paths"]
    assert {path.removeprefix("/api/v1/") for path in paths} == {
        "jobs", "jobs/{job_id}", "jobs/{job_id}/run", "jobs/{job_id}/pause", "jobs/{job_id}/resume",
        "jobs/{job_id}/status", "jobs/{job_id}/skips", "jobs/scheduled", "calendars", "calendars/{calendar_id}",
        "instances", "instances/{instance_id}", "instances/{instance_id}/log",
        "instances/{instance_id}/attempts/{number}/samples", "instances/{instance_id}/attempts/{number}/conditions",
        "instances/{instance_id}/attempts/{number}/outputs", "instances/{instance_id}/attempts/{number}/outputs/{name}",
        "instances/{instance_id}/cancel", "instances/{instance_id}/retry", "schedules/preview", "system/resources",
        "workflows/{job_id}", "workflows/{job_id}/run", "instances/{instance_id}/retry-from-here",
        "jobs/{job_id}/backfills", "backfills/{backfill_id}", "backfills/{backfill_id}/cancel",
        "system/health", "queue", "limits", "limits/{limit_id}", "secrets", "secrets/{secret_id}", "callables",
        "jobs/{job_id}/cancel-waiting", "nodes/{node_id}/drain", "nodes/{node_id}/undrain", "forecast",
        "forecast/what-if",
    }  # fmt: skip


def test_every_operation_is_described():
    operations = [op for path in rota_api.get_openapi_schema()["paths"].values() for op in path.values()]
    assert len({op["operationId"] for op in operations}) == len(operations)
    assert all(op["security"] for op in operations)


def test_page_tries_the_api_without_inline_script(site, page, ada):
    sign_in(page.context, site, ada)
    page.goto(f"{site}/api/v1/docs")
    page.get_by_text("/api/v1/jobs/scheduled").click()
    page.get_by_role("button", name="Try it out").click()
    with page.expect_response("**/api/v1/jobs/scheduled*") as answer:
        page.get_by_role("button", name="Execute").click()
    assert (answer.value.status, answer.value.json()) == (200, [])
