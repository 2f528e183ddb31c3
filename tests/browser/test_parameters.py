"""Parameters in a browser: declared in a table, asked for a run."""

from django.utils import timezone

from jobs import actions
from jobs.models import Instance, Job
from tests.waiting import until

SCHEMA = {
    "type": "object",
    "properties": {"table": {"type": "string", "pattern": "^[a-z]+$"}, "mode": {"enum": ["a", 1]}},
    "required": ["table"],
    "additionalProperties": {"type": "integer"},
}


def test_table_changes_what_it_shows_and_nothing_else(service, signed_in):
    page = signed_in
    raw = {"name": "export", "command": "true", "parameters": SCHEMA}
    job_id = actions.create_job(raw, actor="admin", now=timezone.now(), start=False).job_id
    page.goto(f"{service.address}/jobs/{job_id}/edit/")
    page.locator("#fold-parameters summary").click()
    rows = page.locator(".parameter-row")
    rows.nth(0).get_by_label("Description").fill("Which one.")
    rows.nth(0).get_by_label("Name").fill("source")
    page.get_by_role("button", name="Add a parameter").click()
    row = rows.nth(2)
    row.get_by_label("Name").fill("limit")
    row.get_by_label("Name").press("Tab")
    row.get_by_role("button", name="Remove limit of the parameters").wait_for()
    row.get_by_label("Type").select_option("integer")
    row.get_by_label("Default").fill("5")
    row.get_by_label("Required").check()
    page.get_by_role("button", name="Add a parameter").click()
    rows.nth(3).get_by_label("Type").select_option("yes or no")
    rows.nth(3).get_by_label("Default").fill("no")
    page.get_by_role("button", name="Save changes").click()
    page.wait_for_url(f"**/jobs/{job_id}/")
    assert Job.objects.get().parameters == {
        "type": "object",
        "properties": {
            "source": {"type": "string", "pattern": "^[a-z]+$", "description": "Which one."},
            "mode": {"enum": ["a", 1]},
            "limit": {"type": "integer", "default": 5},
            "parameter_4": {"type": "boolean", "default": False},
        },
        "required": ["source", "limit"],
        "additionalProperties": {"type": "integer"},
    }


def test_run_is_told_its_parameters(service, signed_in):
    page = signed_in
    raw = {"name": "export", "command": 'echo "got $ROTA_PARAM_TABLE"', "parameters": SCHEMA}
    job_id = actions.create_job(raw, actor="admin", now=timezone.now(), start=False).job_id
    page.goto(f"{service.address}/jobs/{job_id}/")
    page.get_by_role("link", name="Run with").click()
    page.get_by_label("table").fill("orders")
    page.get_by_role("button", name="Run now").click()
    page.get_by_text("got orders").wait_for()
    until(lambda: Instance.objects.get().status == "success")
    page.get_by_role("link", name="Run again with others").click()
    assert page.get_by_label("table").input_value() == "orders"
