"""A calendar as a person writes it in a form: a line for each closed time.

2026-12-20 to 2027-01-03 release freeze
2026-12-20 18:00 to 2026-12-21 06:00 move of the machines
mon-fri 22:00 to 06:00 backup
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jobs.actions.answers import InvalidInput, Problem
from jobs.actions.calendars import check_calendar
from jobs.actions.reading import shown
from jobs.core.calendarreading import closed_time
from jobs.core.invalid import BLACKOUTS, InvalidSchedule
from jobs.core.zones import zone_names

CALENDAR_TEXTS = ("name", "timezone", "business_days", "holidays", "blackouts")
EXPECTED_LINE = "2026-12-20 to 2027-01-03, or sat,sun 22:00 to 06:00, and after it a name, if you like"
# What stands in the places is judged where the API's is, too.
_MOMENT, _CLOCK, _NAME = r"\d{4}\S*(?: \d\d?:\d\S*)?", r"\d\d?:\d\S*", r"(?:\s+(?:#\s*)?(?P<name>.+))?"
_RANGE = re.compile(rf"(?P<from>{_MOMENT})\s+to\s+(?P<to>{_MOMENT}){_NAME}")
_WEEKLY = re.compile(rf"(?P<days>[^\W\d][^\d]*?)\s+(?P<from>{_CLOCK})\s+to\s+(?P<to>{_CLOCK}){_NAME}")


def calendar_from_form(values: Mapping[str, str], calendar_id: int | None = None) -> dict[str, Any]:
    """CALENDAR_TEXTS as `create_calendar` and, for `calendar_id`, `change_calendar` take them.

    What is blank is null: what was there goes. Raises InvalidInput with all that is wrong.
    """
    problems: list[Problem] = []
    blackouts = []
    for line in _lines(values.get("blackouts", "")):
        try:
            blackouts.append(_closed_time(line, values.get("timezone", "").strip()))
        except InvalidSchedule as refusal:
            problems.append(Problem("blackouts", shown(line), EXPECTED_LINE, refusal.sentence))
    holidays = _lines(values.get("holidays", "").replace(",", "\n"))
    texts = {field: values.get(field, "").strip() or None for field in ("name", "timezone", "business_days")}
    raw = {**texts, "holidays": holidays or None, "blackouts": blackouts or None}
    try:
        check_calendar(raw, calendar_id)
    except InvalidInput as refusal:
        problems = [*refusal.problems, *problems]
    if problems:
        raise InvalidInput(problems)
    return raw


def _closed_time(line: str, zone: str) -> dict[str, str]:
    """Raises InvalidSchedule with a sentence that says which line it is."""
    found = _WEEKLY.fullmatch(line) or _RANGE.fullmatch(line)
    if found is None:
        raise InvalidSchedule(BLACKOUTS, f"{shown(line)} is no closed time; expected such as {EXPECTED_LINE}.")
    given = {key: text for key, text in found.groupdict().items() if text}
    try:
        closed_time(given, zone if zone in zone_names() else "UTC")
    except InvalidSchedule as refusal:
        raise InvalidSchedule(BLACKOUTS, f"{shown(line)}: {refusal.sentence}") from refusal
    return given


def calendar_texts(name: str, definition: Mapping[str, Any]) -> dict[str, str]:
    """The stored calendar as CALENDAR_TEXTS; read again it is the same."""
    return {
        "name": name,
        "timezone": definition.get("timezone") or "",
        "business_days": definition.get("business_days") or "",
        "holidays": "\n".join(definition.get("holidays") or []),
        "blackouts": "\n".join(map(_line, definition.get("blackouts") or [])),
    }


def _line(blackout: Mapping[str, str]) -> str:
    days, name = blackout.get("days", ""), blackout.get("name", "")
    # A name that begins so would be taken for a time of day.
    mark = "# " if name[:1].isdigit() or name[:1] == "#" else ""
    return f"{days} {blackout['from']} to {blackout['to']} {mark}{name}".strip()


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
