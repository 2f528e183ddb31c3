"""The formats that a text may have to have, each with its check and an example."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time
from urllib.parse import urlsplit

# Narrower than what Python reads: others read these values, too.
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")


def is_date(text: str) -> bool:
    return bool(_DATE.fullmatch(text)) and _is_read(date.fromisoformat, text)


def is_time(text: str) -> bool:
    """RFC 3339's, but seconds and offset may be left out: a time of day is mostly said without them."""
    return bool(_TIME.fullmatch(text)) and _is_read(time.fromisoformat, text)


def is_moment(text: str) -> bool:
    """RFC 3339's date-time, and so with an offset: without one it would be a moment in whose zone?"""
    day, _, clock = text.replace("t", "T").partition("T")
    with_offset = bool(_TIME.fullmatch(clock)) and clock[-1] in "Z0123456789" and bool(re.search("Z|[+-]", clock))
    return bool(_DATE.fullmatch(day)) and with_offset and _is_read(datetime.fromisoformat, f"{day}T{clock}")


def is_email(text: str) -> bool:
    return bool(_EMAIL.fullmatch(text))


def is_uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return bool(parts.scheme and (parts.netloc or parts.path)) and not re.search(r"\s", text)
    except ValueError:
        return False


def _is_read(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


FORMATS: dict[str, Callable[[str], bool]] = {
    "date": is_date, "date-time": is_moment, "time": is_time, "email": is_email, "uri": is_uri
}  # fmt: skip
FORMAT_WORDS = {
    "date": "a date such as 2026-11-30",
    "date-time": "a moment with its offset, such as 2026-11-30T08:00:00Z",
    "time": "a time of day such as 08:30",
    "email": "an e-mail address",
    "uri": "an address such as https://example.com/",
}
