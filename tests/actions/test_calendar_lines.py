"""Calendars as people write them: a line for each closed time, and back."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.actions import InvalidInput
from jobs.actions.calendarlines import calendar_from_form, calendar_texts

pytestmark = pytest.mark.django_db


def read(**texts):
    return calendar_from_form({"name": "ops", **texts})


def refused(**texts):
    with pytest.raises(InvalidInput) as refusal:
        read(**texts)
    return [(problem.field, problem.sentence) for problem in refusal.value.problems]


@pytest.mark.parametrize(
    ("line", "blackout"),
    [("2026-12-20 to 2027-01-03", {"from": "2026-12-20", "to": "2027-01-03"}),
     ("2026-12-20  to 2027-01-03 day to day", {"from": "2026-12-20", "to": "2027-01-03", "name": "day to day"}),
     ("2026-12-20 18:00 to 2026-12-21T06:00+01:00 move",
      {"from": "2026-12-20 18:00", "to": "2026-12-21T06:00+01:00", "name": "move"}),
     ("sat,sun 00:00 to 24:00", {"days": "sat,sun", "from": "00:00", "to": "24:00"}),
     ("Mon - Fri 22:00 to 06:00:30 2nd", {"days": "Mon - Fri", "from": "22:00", "to": "06:00:30", "name": "2nd"}),
     ("mon 22:00 to 23:00 # 07:00", {"days": "mon", "from": "22:00", "to": "23:00", "name": "07:00"})],
)  # fmt: skip
def test_line_is_a_closed_time(line, blackout):
    assert read(blackouts=f"\r\n {line} \r\n")["blackouts"] == [blackout]


@pytest.mark.parametrize("line", ["soon", "2026-12-20", "2026-12-20 - 2027-01-03", "mon-fri 22:00", "22:00 to 06:00 x"])
def test_line_that_is_none_is_said_with_what_is_expected(line):
    field, sentence = refused(blackouts=f"mon 01:00 to 02:00\n{line}")[0]
    assert field == "blackouts"
    assert line in sentence
    assert "sat,sun 22:00 to 06:00" in sentence


def test_each_line_that_cannot_be_is_named():
    said = refused(blackouts="soon\n2026-01-05 to 2026-01-01 x\nmon 01:00 to 02:00\nfri 08:00 to 08:00")
    assert [sentence.partition('"')[2].partition('"')[0] for _, sentence in said] == [
        "soon", "2026-01-05 to 2026-01-01 x", "fri 08:00 to 08:00",
    ]  # fmt: skip
    assert said[1][1].endswith(": it ends (2026-01-01) before it has begun (2026-01-05).")


def test_all_that_is_wrong_is_said_at_once():
    fields = [field for field, _ in refused(name="", timezone="Mars/Base", blackouts="soon\nlater")]
    assert fields == ["name", "timezone", "blackouts", "blackouts"]


@pytest.mark.parametrize("text", ["2026-12-20 to 2026-12-21 nul\0", "mon 01:00 to 02:00 half\ud800"])
def test_what_no_column_holds_is_refused(text):
    assert "U+" in refused(blackouts=text)[0][1]


def test_blank_fields_take_away_what_was_there():
    assert read() == dict.fromkeys(("timezone", "business_days", "holidays", "blackouts")) | {"name": "ops"}


DAY = st.dates(date(2026, 1, 1), date(2026, 12, 31)).map(str)
NAMES = st.sampled_from(["", "release freeze", "to 06:00", "2026", "día de año", "10:00 to 11:00", "#1"])


@settings(deadline=None)  # a pause of the machine is no fault
@given(st.lists(st.tuples(DAY, NAMES), max_size=3), st.lists(DAY, max_size=3), NAMES)
def test_stored_calendar_reads_as_it_was(ranges, holidays, name):
    blackouts = [{"from": day, "to": "2027-01-01"} | ({"name": name} if name else {}) for day, name in ranges]
    blackouts.append({"days": "sat,sun", "from": "22:00", "to": "06:00"} | ({"name": name} if name else {}))
    stored = {"timezone": "Europe/Berlin", "business_days": "mon-fri", "holidays": holidays, "blackouts": blackouts}
    raw = calendar_from_form(calendar_texts("ops", stored))
    assert {field: value or [] for field, value in raw.items()} == stored | {"name": "ops"}
