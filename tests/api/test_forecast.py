"""What is to come, by API and command: it is simulated from the rows, and nothing is stored."""

import json
import re
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from jobs import actions, forecast
from jobs.models import Event, Instance, Job, Node, Schedule

pytestmark = pytest.mark.django_db


@pytest.fixture
def plan(ada):
    """A node with two cores and an hourly job that takes both for ten minutes."""
    now = timezone.now()
    Node.objects.create(name="alpha", cores=[0, 1], overcommit=1.0, heartbeat_at=now)
    fields = {"command": "true", "cpu_cores_required": 2, "schedule_type": "interval", "schedule_expression": "1h"}
    actions.create_job({"name": "report", **fields}, actor="ada", now=now)
    Job.objects.update(usual_seconds=600)


def simulated(**options) -> str:
    out = StringIO()
    call_command("simulate", stdout=out, **options)
    return out.getvalue()


def test_forecast_counts_fires_and_core_use(api, plan):
    found = api.get("forecast?days=1").json()
    assert found["totals"]["starts"] in (23, 24)
    assert found["core_use"]["peak"] == 2
    assert found["core_use"]["mean"] == pytest.approx(1 / 3, abs=0.05)
    assert (found["warnings"], found["cut"]) == ([], False)


def test_forecast_stores_nothing(api, plan):
    before = Event.objects.count()
    api.get("forecast?days=1")
    api.send("forecast/what-if", job="report", cores=1, days=1)
    assert (Event.objects.count(), Instance.objects.count()) == (before, 0)


def test_what_runs_now_is_part_of_the_forecast(api, plan):
    job, now = Job.objects.get(), timezone.now()
    Instance.objects.create(
        job=job, status="running", logical_at=now, due_at=now, queued_at=now, started_at=now, order_key=1,
        attempt_count=1, token="t", node=Node.objects.get(), cores=[0, 1], created_at=now,
    )  # fmt: skip
    found = api.get("forecast?days=1").json()
    assert found["core_use"]["parts"][0]["max"] == 2
    assert found["totals"]["ends"] == found["totals"]["starts"] + 1 - found["totals"]["running_at_the_end"]


def test_what_if_says_who_waits_longer(api, plan):
    start = (timezone.now() + timedelta(minutes=30)).isoformat()
    timing = {"schedule_type": "interval", "schedule_expression": "1h", "start_date": start}
    found = api.send("forecast/what-if", job="import", cores=2, duration_seconds=2400, days=1, **timing).json()
    (longer,) = found["waits_longer"]
    assert longer["job"] == "report"
    assert longer["longest_wait_seconds"]["after"] > 500
    assert found["core_use"]["after"]["mean"] > found["core_use"]["before"]["mean"]


def test_what_if_at_an_hour_is_short_for_daily(api, plan):
    found = api.send("forecast/what-if", job="report", at="02:00", cores=4, days=2).json()
    assert found["job"]["after"]["fires"] == 2
    assert found["new_warnings"][0]["code"] == "node_too_small"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "job"),
        ({"job": "a", "cores": "two"}, "cores"),
        ({"job": "a", "at": "25:00"}, "schedule_expression"),
        ({"job": "a", "at": "02:00", "schedule_type": "cron"}, "at"),
        ({"job": "a", "core": 2}, "core"),
    ],
)
def test_what_if_refuses_naming_the_field(api, problem, plan, fields, field):
    errors = problem(api.send("forecast/what-if", **fields), 422)["errors"]
    assert field in [error["field"] for error in errors]


@pytest.mark.parametrize("ask", ["forecast", "what-if"])
def test_answer_without_time_says_up_to_when_it_is_true(api, plan, monkeypatch, ask):
    monkeypatch.setattr(forecast, "SECONDS_WHILE_SOMEBODY_WAITS", 0)
    answer = api.get("forecast") if ask == "forecast" else api.send("forecast/what-if", job="report", cores=1)
    found = answer.json()
    assert (found["cut"], found["reached"]) == (True, found["from"])
    assert "Ask for a shorter time" in found["cut_because"]


def test_command_without_time_says_up_to_when_it_is_true(plan):
    assert "Ask for a shorter time" in simulated(within=1e-6)


def test_forecast_without_a_node_says_what_to_do(api, problem):
    assert "runscheduler" in problem(api.get("forecast"), 409)["detail"]


def test_command_prints_a_table(plan):
    said = simulated(days=1)
    assert "report" in said
    assert "No warnings." in said
    assert "Every run is assumed to succeed." in said


def test_command_says_moments_to_the_minute(plan):
    first = simulated(days=1).splitlines()[0]
    assert re.fullmatch(r"From (\S+ \d\d:\d\d UTC) to (\S+ \d\d:\d\d UTC):", first)


def test_command_prints_json_of_one_job(plan):
    found = json.loads(simulated(days=1, json=True, job=["report"]))
    assert [job["job"] for job in found["jobs"]] == ["report"]
    assert found["jobs"][0]["duration_from"] == "usual"


def test_command_says_which_duration_is_a_guess(plan):
    Job.objects.update(usual_seconds=None)
    found = json.loads(simulated(days=1, json=True, guess=30))
    assert (found["jobs"][0]["duration_from"], found["jobs"][0]["duration_seconds"]) == ("guess", 30)
    assert any("30 s are guessed" in note for note in found["notes"])


@pytest.mark.parametrize(
    "options", [{"days": 0}, {"days": 99}, {"guess": -1}, {"within": 0}, {"cores": 0}, {"job": ["nobody"]}]
)
def test_command_refuses_with_a_sentence(plan, options):
    with pytest.raises(CommandError, match=r"expected|There is no job"):
        simulated(**options)


def test_command_without_a_node_asks_for_cores(db):
    with pytest.raises(CommandError, match="--cores"):
        simulated(days=1)


def test_what_is_left_out_is_said(api, plan):
    actions.pause_job(Job.objects.get().pk, actor="ada", now=timezone.now())
    Schedule.objects.update(fault="its zone is gone")
    found = api.get("forecast?days=1").json()
    assert found["totals"]["fires"] == 0
    assert "1 job is paused and is not simulated." in found["notes"]
    assert "1 schedule is set aside with a fault and not simulated." in found["notes"]
