"""Field cases of cron expressions and of time. A row that no test here takes is named, with who takes it."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from jobs.core.catchup import CatchUp, Due, due_between
from jobs.core.expressions import InvalidSchedule, parse_moment, parse_trigger
from jobs.core.fixeddelay import FixedDelay
from jobs.core.records import RetryPolicy
from jobs.core.retry import backoff_seconds
from jobs.core.triggers import FixedRate, Trigger, fires, missed_between

Row = dict[str, Any]

CASES = Path(__file__).parent.parent / "cases"
CRON: list[Row] = json.loads((CASES / "cron.json").read_text())
TIME: list[Row] = json.loads((CASES / "time.json").read_text())

# Rows about what happens around a trigger, not about when it fires.
ELSEWHERE = {
    "an overlap policy decides": {"time-067", "time-106"},
    "the action that creates a job knows what is past": {"time-058"},
    "the store remembers what has fired": {"time-062", "time-107"},
    "the engine takes edits, pauses and changes of zone": {"time-103", "time-104", "time-105"},
    "the engine retries": {"time-124", "time-125", "time-126", "time-127"},
}


taken: set[str] = set()


def rows(table: list[Row], chosen: Callable[[Row], bool]) -> pytest.MarkDecorator:
    elsewhere = set().union(*ELSEWHERE.values())
    params = [pytest.param(row, id=row["id"]) for row in table if row["id"] not in elsewhere and chosen(row)]
    taken.update(str(param.id) for param in params)
    return pytest.mark.parametrize("row", params)


def only(*ids: str) -> pytest.MarkDecorator:
    return rows(TIME, lambda row: row["id"] in ids)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def cron_trigger(row: Row) -> Trigger:
    start = at(row["start"])
    return parse_trigger(
        "cron",
        row["expression"],
        zone=row["timezone"],
        anchor=start,
        start=None,
        end=None,
        hash_id=row.get("hash_id") or "",
    )


def time_trigger(row: Row) -> Trigger:
    """The row's schedule, as the API's fields."""
    schedule, zone = row["schedule"], row["schedule"].get("timezone", "UTC")
    start, end = schedule.get("at") or schedule.get("start"), schedule.get("end")
    expression = schedule.get("expression")
    if schedule["type"] in ("daily", "weekly"):
        expression = " ".join([",".join(map(str, schedule.get("days", []))), schedule["time"]]).strip()
    elif schedule["type"] == "interval":
        expression = None if schedule["every_s"] is None else str(schedule["every_s"])
    return parse_trigger(
        schedule["type"],
        expression,
        zone=zone,
        anchor=at(schedule.get("anchor", "2026-01-01T00:00:00+00:00")),
        start=parse_moment(start, zone, end_of_day=False) if start else None,
        end=parse_moment(end, zone, end_of_day=True) if end else None,
    )


def given_now(row: Row) -> datetime:
    given = row["given"]
    return at(given.get("now") or given.get("created") or given.get("down_to") or "2026-01-01T12:00:00+00:00")


@rows(CRON, lambda row: row["kind"] == "fires")
def test_cron_expression_fires_as_expected(row: Row) -> None:
    found = fires(cron_trigger(row), at(row["start"]), len(row["expected"]))
    assert found == [at(text) for text in row["expected"]]


@rows(CRON, lambda row: row["kind"] == "invalid")
def test_cron_expression_is_refused_with_a_sentence(row: Row) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        cron_trigger(row)
    assert refused.value.field == "schedule_expression"
    assert refused.value.sentence.endswith(".")


@rows(
    TIME,
    lambda row: isinstance(row["expected"], list) and row["category"] not in ("catch-up", "clock", "interval-delay"),
)
def test_schedule_fires_as_expected(row: Row) -> None:
    found = fires(time_trigger(row), given_now(row), len(row["expected"]))
    assert found == [at(text) for text in row["expected"]]


@rows(TIME, lambda row: row["expected"] == "error")
def test_schedule_is_refused(row: Row) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        time_trigger(row)
    assert refused.value.field == ("timezone" if row["category"] == "timezone-invalid" else "schedule_expression")


@rows(TIME, lambda row: row["expected"] == "accepted")
def test_schedule_is_accepted(row: Row) -> None:
    assert time_trigger(row).next_after(given_now(row))


@only("time-020")
def test_day_named_twice_fires_once(row: Row) -> None:
    assert fires(time_trigger(row), given_now(row), 2) == [at("2026-01-05T10:00:00Z"), at("2026-01-12T10:00:00Z")]


@only("time-021")
def test_full_name_is_that_day(row: Row) -> None:
    assert time_trigger(row).next_after(given_now(row)) == at("2026-01-05T10:00:00Z")


@only("time-029")
def test_one_digit_minute_is_refused(row: Row) -> None:
    with pytest.raises(InvalidSchedule, match="HH:MM"):
        time_trigger(row)


@rows(TIME, lambda row: row["category"] == "catch-up" and "last_fired" in row["given"])
def test_missed_fires_follow_the_policy(row: Row) -> None:
    given, expected, trigger = row["given"], row["expected"], time_trigger(row)
    back = at(given["down_to"])
    due = due_between(trigger, at(given["last_fired"]), back, CatchUp(given["catch_up"]), given["max"] or 3)
    assert len(due.fires) == expected.get("at_start_count", len(due.fires))
    assert "at_start" not in expected or list(due.fires) == [at(text) for text in expected["at_start"]]
    assert due.missed == expected.get("missed", due.missed)
    assert "next" not in expected or trigger.next_after(back) == at(expected["next"])


@only("time-099")
def test_two_months_of_minutes_are_one_step(row: Row) -> None:
    missed = missed_between(time_trigger(row), at("2026-01-01T00:00:00Z"), at(row["given"]["down_to"]))
    assert (missed.count, missed.latest) == (84_960, at("2026-03-01T00:00:00Z"))


@only("time-111")
def test_jump_of_decades_is_one_step(row: Row) -> None:
    trigger, jump = time_trigger(row), at("2026-01-01T00:00:02Z")
    missed = missed_between(trigger, at("1970-01-01T00:00:00Z"), jump)
    assert (missed.count, missed.latest) == (353_445_120, at("2026-01-01T00:00:00Z"))


@only("time-112", "time-113")
def test_jump_or_suspension_is_downtime(row: Row) -> None:
    trigger, back = time_trigger(row), at("2026-01-01T13:30:00Z")
    due = due_between(trigger, at("2026-01-01T10:30:00Z"), back, CatchUp(row["given"]["catch_up"]))
    one = row["given"]["catch_up"] == "one"
    assert due == (Due((at("2026-01-01T13:00:00Z"),), 2) if one else Due((), 3))
    assert trigger.next_after(back) == at("2026-01-01T14:00:00Z")


@only("time-110")
def test_clock_set_back_by_years_keeps_the_phase(row: Row) -> None:
    rate, back = time_trigger(row), at("2021-01-01T00:00:07Z")
    assert isinstance(rate, FixedRate)
    assert rate.reaching_back_to(back).next_after(back) == at("2021-01-01T00:00:20Z")


@only("time-114")
def test_ten_seconds_stay_ten_seconds_in_a_fold(row: Row) -> None:
    found = fires(time_trigger(row), at("2026-10-25T02:00:00+02:00"), 2 * 3600 // 10)
    assert {late - early for early, late in pairwise(found)} == {timedelta(seconds=10)}


def delay_of(row: Row) -> FixedDelay:
    start = at(row["given"].get("first_start", "2026-01-01T10:00:00Z"))
    every = str(row["schedule"]["every_s"])
    trigger = parse_trigger("fixed_delay", every, zone="UTC", anchor=start, start=start, end=None)
    assert isinstance(trigger, FixedDelay)
    return trigger


@only("time-072")
def test_delay_counts_from_each_end(row: Row) -> None:
    delay, takes = delay_of(row), timedelta(seconds=row["schedule"]["duration_s"])
    found = [delay.start]
    while len(found) < 3:
        following = delay.after_end(found[-1] + takes)
        assert following is not None
        found.append(following)
    assert found == [at(text) for text in row["expected"]]


@only("time-073")
def test_delay_counts_from_the_last_attempt(row: Row) -> None:
    schedule = row["schedule"]
    attempts = timedelta(seconds=schedule["duration_s"]) * (schedule["retries"] + 1)
    waits = timedelta(seconds=schedule["retry_wait_s"]) * schedule["retries"]
    delay = delay_of(row)
    assert delay.after_end(delay.start + attempts + waits) == at("2026-01-01T10:02:30Z")


@only("time-074")
def test_delay_counts_from_a_cancelled_run(row: Row) -> None:
    assert delay_of(row).after_end(at("2026-01-01T10:00:20Z")) == at("2026-01-01T10:01:20Z")


@rows(TIME, lambda row: row["category"] == "retry-backoff" and "attempt" in row["given"])
def test_backoff_is_a_share_of_a_capped_power(row: Row) -> None:
    policy = RetryPolicy(9, row["schedule"]["base_s"], row["schedule"]["cap_s"])
    ends = [
        backoff_seconds(policy, row["given"]["attempt"], share) for share in (lambda low, _: low, lambda _, high: high)
    ]
    assert ends == row["expected"]["delay_between"]


def test_every_row_is_taken_by_somebody() -> None:
    assert {row["id"] for row in CRON + TIME} == taken | set().union(*ELSEWHERE.values())
