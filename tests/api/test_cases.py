"""Every field case of cron expressions and of time through the API, or by the other way that is named here."""

import json
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.django_db

CASES = Path(__file__).parent.parent / "cases"
CRON, TIME = (json.loads((CASES / name).read_text()) for name in ("cron.json", "time.json"))
ROWS = {row["id"]: row for row in CRON + TIME}

# Rows about what runs, ends, crashes or is edited; the test named runs them.
ELSEWHERE = {
    "time-062": "tests/actions/test_schedule_cases.py::test_edit_does_not_rearm_what_ran",
    "time-067": "tests/core/test_schedule_cases.py::test_ticks_inside_a_run_are_skipped",
    "time-070": "tests/actions/test_schedule_cases.py::test_pause_keeps_the_phase",
    "time-072": "tests/core/test_schedule_cases.py::test_delay_counts_from_each_end",
    "time-073": "tests/core/test_schedule_cases.py::test_delay_counts_from_the_last_attempt",
    "time-074": "tests/core/test_schedule_cases.py::test_delay_counts_from_a_cancel",
    "time-103": "tests/actions/test_schedule_cases.py::test_edit_of_the_hour_fires_only_then",
    "time-104": "tests/admin/test_bulk.py::test_enabling_runs_nothing_and_takes_the_coming_hour",
    "time-105": "tests/actions/test_schedule_cases.py::test_change_of_zone_moves_the_future",
    "time-106": "tests/core/test_schedule_cases.py::test_caught_up_ones_queue_behind_each_other",
    "time-107": "tests/core/test_schedule_cases.py::test_crash_after_the_row_makes_no_second",
    "time-110": "tests/core/test_cases.py::test_clock_set_back_by_years_keeps_the_phase",
    "time-117": "tests/core/test_cases.py::test_backoff_is_a_share_of_a_capped_power",
    "time-119": "tests/core/test_cases.py::test_backoff_is_a_share_of_a_capped_power",
    "time-121": "tests/core/test_cases.py::test_backoff_is_a_share_of_a_capped_power",
    "time-123": "tests/core/test_cases.py::test_backoff_is_a_share_of_a_capped_power",
    "time-124": "tests/core/test_schedule_cases.py::test_three_retries_are_four_attempts",
    "time-125": "tests/core/test_schedule_cases.py::test_cancel_ends_the_wait_for_a_retry",
    "time-126": "tests/core/test_schedule_cases.py::test_wait_for_a_retry_is_active_and_holds_nothing",
    "time-127": "tests/core/test_schedule_cases.py::test_restart_keeps_the_wait_for_a_retry",
}
ERRORS = ("error", "error: in the past", "error or read as 10:05, never 10:50")
taken: set[str] = set(ELSEWHERE)


def by_preview(*ids: str, table: Any = (), chosen: Any = None) -> pytest.MarkDecorator:
    rows = [ROWS[id_] for id_ in ids] or [row for row in table if row["id"] not in taken and chosen(row)]
    taken.update(row["id"] for row in rows)
    return pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in rows])


def fields_of(row: dict[str, Any]) -> dict[str, Any]:
    """What a row says, as the preview takes it."""
    if "expression" in row:
        cron = {"schedule_type": "cron", "schedule_expression": row["expression"], "timezone": row["timezone"]}
        return cron | {"after": row["start"]} | ({"hash_id": row["hash_id"]} if "hash_id" in row else {})
    schedule, given = row["schedule"], row["given"]
    kind = schedule["type"]
    fields = {"schedule_type": kind, "after": given.get("now") or given.get("created") or given.get("down_to")}
    fields |= {name: schedule[name] for name in ("timezone",) if name in schedule}
    fields |= {f"{name}_date": schedule[name] for name in ("start", "end") if name in schedule}
    fields |= {name: given[name] for name in ("catch_up", "down_from") if given.get(name)}
    fields["catch_up_limit"] = given.get("max")
    if kind == "once":
        fields["start_date"] = schedule["at"]
    elif kind == "interval":
        every = schedule["every_s"]
        fields |= {"schedule_expression": str(every) if type(every) in (int, float) else every}
        fields |= {"start_date": schedule["anchor"]} if "anchor" in schedule else {}
    else:
        days = ",".join(map(str, schedule.get("days", [])))
        fields["schedule_expression"] = schedule.get("expression") or f"{days} {schedule['time']}".strip()
    return {name: value for name, value in fields.items() if value is not None or name == "hash_id"}


def preview(api: Any, row: dict[str, Any], **more: Any) -> Any:
    return api.send("schedules/preview", **(fields_of(row) | more))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def fires(answer: Any) -> list[datetime]:
    assert answer.status_code == 200, answer.content
    return [at(text) for text in answer.json()["fires"]]


@by_preview("time-112", "time-113")
def test_jump_or_suspension_is_downtime(api, row):
    answer = preview(api, row, down_from="2026-01-01T10:30:00Z", after="2026-01-01T13:30:00Z", count=1)
    one = row["given"]["catch_up"] == "one"
    assert answer.json()["at_once"] == (["2026-01-01T13:00:00+00:00"] if one else [])
    assert answer.json()["missed"] == (2 if one else 3)
    assert fires(answer) == [at("2026-01-01T14:00:00Z")]


@by_preview("time-111")
def test_jump_of_decades_is_one_step(api, row):
    answer = preview(api, row, down_from="1970-01-01T00:00:00Z", after="2026-01-01T00:02:02Z", count=1)
    assert (answer.json()["at_once"], answer.json()["missed"]) == (["2026-01-01T00:02:00+00:00"], 353_445_143)
    assert fires(answer) == [at("2026-01-01T00:02:05Z")]


@by_preview("time-114")
def test_ten_seconds_stay_ten_seconds_in_a_fold(api, row):
    found = fires(preview(api, row, after="2026-10-25T02:59:30+02:00", count=30))
    assert {(late - early).seconds for early, late in pairwise(found)} == {10}


@by_preview(table=TIME, chosen=lambda row: row["category"] == "catch-up" and "last_fired" in row["given"])
def test_missed_fires_follow_the_policy(api, row):
    answer, expected = preview(api, row, down_from=row["given"]["last_fired"], count=1), row["expected"]
    found = [at(text) for text in answer.json()["at_once"]]
    assert len(found) == expected.get("at_start_count", len(found))
    assert "at_start" not in expected or found == [at(text) for text in expected["at_start"]]
    assert answer.json()["missed"] == expected.get("missed", answer.json()["missed"])
    assert "next" not in expected or fires(answer) == [at(expected["next"])]


@by_preview("time-020")
def test_day_named_twice_fires_once(api, row):
    assert fires(preview(api, row, after="2026-01-01", count=2)) == [
        at("2026-01-05T10:00:00Z"), at("2026-01-12T10:00:00Z"),
    ]  # fmt: skip


@by_preview("time-021")
def test_full_name_is_that_day(api, row):
    assert fires(preview(api, row, after="2026-01-01", count=1)) == [at("2026-01-05T10:00:00Z")]


@by_preview(table=TIME, chosen=lambda row: row["expected"] == "accepted")
def test_zone_is_accepted(api, row):
    assert len(fires(preview(api, row))) == 10


@by_preview(table=TIME, chosen=lambda row: row["expected"] in ERRORS)
def test_schedule_is_refused_with_its_field(api, problem, row):
    refusal = problem(preview(api, row), 422)
    field = {"timezone-invalid": "timezone", "once": "start_date"}.get(row["category"], "schedule_expression")
    assert [error["field"] for error in refusal["errors"]] == [field]


@by_preview(table=CRON, chosen=lambda row: row["kind"] == "invalid")
def test_expression_is_refused_with_a_sentence(api, problem, row):
    refusal = problem(preview(api, row), 422)
    assert [error["field"] for error in refusal["errors"]] == ["schedule_expression"]


@by_preview(table=CRON + TIME, chosen=lambda row: isinstance(row["expected"], list))
def test_schedule_fires_as_expected(api, row):
    expected = [at(text) for text in row["expected"]]
    found = preview(api, row, count=len(expected))
    assert fires(found) == expected
    # The offset of each, too: as the schedule's own zone has it then.
    assert [moment.utcoffset() for moment in fires(found)] == [moment.utcoffset() for moment in expected]


@pytest.mark.parametrize("type_", ["once", "interval"])
def test_creation_refuses_what_the_preview_refuses(api, problem, type_):
    refused = [row for row in TIME if row["expected"] in ERRORS and row["schedule"]["type"] == type_]
    for row in refused:
        fields = {name: value for name, value in fields_of(row).items() if name not in ("after", "catch_up_limit")}
        problem(api.send("jobs", name="x", command="true", **fields), 422)
    assert refused


def test_every_row_is_run_and_no_other():
    assert taken == set(ROWS)
    for where in ELSEWHERE.values():
        path, _, name = where.partition("::")
        assert f"def {name}(" in (Path(__file__).parents[2] / path).read_text(), where
