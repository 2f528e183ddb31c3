from datetime import UTC, datetime, timedelta

import pytest

from jobs.core import timewords
from jobs.core.cron import parse_cron


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("* * * * *", "every minute"),
        ("*/5 * * * *", "every 5 minutes"),
        ("0 * * * *", "every hour"),
        ("0 */2 * * *", "every 2 hours"),
        ("30 */2 * * *", "at minute 30 of every 2nd hour from 0"),
        ("*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour"),
        ("*/60 * * * *", "every hour"),
        ("0-30 * * * *", "at minutes 0 to 30 of every hour"),
        ("30 2 * * *", "at 02:30 every day"),
        ("0 9,18 * * MON-FRI", "at 09:00 and 18:00 on Monday to Friday"),
        ("*/15 9-17 * * 1,5", "every 15 minutes of hours 9 to 17 on Monday and Friday"),
        ("*/10 * * * * *", "every 10 seconds"),
        ("5 * * * * *", "at second 5 of every minute"),
        ("* * 5 * * *", "every second of hour 5"),
        ("15 30 2 * * *", "at 02:30:15 every day"),
        ("0 0 1 1 *", "at 00:00 on day 1 of the month in January"),
        ("0 0 L 3-5 *", "at 00:00 on the last day of the month in March to May"),
        ("0 0 15W * *", "at 00:00 on the weekday (Monday to Friday) nearest to day 15 of the month"),
        ("0 0 LW * *", "at 00:00 on the last weekday (Monday to Friday) of the month"),
        ("0 0 L-2 * *", "at 00:00 on the 2nd day before the last of the month"),
        ("0 0 * * 1,3#2,5L", "at 00:00 on Monday, the second Wednesday of the month and the last Friday of the month"),
        ("0 0 13 * 5", "at 00:00 on day 13 of the month or on Friday"),
        ("0 0 1-7 * */7", "at 00:00 on days 1 to 7 of the month, but only if that is Sunday"),
        ("0 12 1-31 * 1", "at 12:00 every day"),
        ("0 0 ? * 0-6", "at 00:00 every day"),
        ("H H * * *", "at 23:23 every day"),
    ],
)
def test_cron_is_said_as_a_person_would(expression: str, expected: str) -> None:
    assert timewords.wall_times(parse_cron(expression, "job-1")) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (1, "every second"),
        (300, "every 5 minutes"),
        (5400, "every 1 hour 30 minutes"),
        (86400, "every day"),
        (90061, "every 1 day 1 hour 1 minute 1 second"),
        (0.25, "every 0.25 seconds"),
    ],
)
def test_intervals_are_said_in_units(seconds: float, expected: str) -> None:
    assert timewords.every(timedelta(seconds=seconds)) == expected


def test_once_is_said_in_its_zone() -> None:
    at = datetime(2026, 11, 1, 6, 30, tzinfo=UTC)
    assert timewords.once(at, "America/New_York") == "once, at Sun 01 Nov 2026, 01:30:00 -0500 (America/New_York)"
    assert timewords.once(at, "UTC") == "once, at Sun 01 Nov 2026, 06:30:00 UTC"


def test_a_delay_is_said_from_the_end() -> None:
    assert timewords.after_end(timedelta(minutes=5)) == "5 minutes after the last one ended"
    assert timewords.after_end(timedelta(days=1)) == "1 day after the last one ended"
