"""What an HTML form sends, as the values that the API takes: the check that follows is the same for both."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from jobs.actions.grants import uses_in_text
from jobs.parameters.written import NotJson, read_json

# No number that is meant has more digits, and Python refuses to read some thousand.
_WHOLE = re.compile(r"[+-]?[0-9]{1,100}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
FLAGS = {"on": True, "true": True, "1": True, "yes": True, "off": False, "false": False, "0": False, "no": False}


def raw_from_form(values: Mapping[str, str]) -> dict[str, Any]:
    """Texts by the API's names -> values by the same names. A blank is null: the default, also when editing.

    What cannot be read as its kind stays text, for the check to refuse it as it was typed. `environment`: a line
    NAME=value each. `secrets`: a line VARIABLE=name each. `parameters`, `parameter_values`: JSON.
    `tags`: separated by commas. A checkbox that is off is not sent, so who has one adds its "off".
    """
    return {field: _READERS.get(field, _text)(text) if text.strip() else None for field, text in values.items()}


def lines_alike(text: str) -> str:
    """All its lines end in a line feed: a text area gives them back in its own way."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def environment_text(environment: Mapping[str, str]) -> str:
    return "\n".join(f"{name}={value}" for name, value in environment.items())


def _text(text: str) -> str:
    # A browser sends line breaks as CR LF, which neither Python nor a shell takes well inside a text.
    return text.replace("\r\n", "\n")


def read_whole(text: str) -> int | str:
    """Digits as everybody writes them: Python would read 1_000, too, and those of other scripts."""
    return int(text) if _WHOLE.fullmatch(text.strip()) else text


def read_number(text: str) -> float | str:
    """A whole number stays one, so that a refusal shows it as it was typed."""
    whole = read_whole(text)
    return float(text) if isinstance(whole, str) and _NUMBER.fullmatch(text.strip()) else whole


def _priority(text: str) -> int | str:
    return int(text) if text in ("0", "1", "2", "3") else text


def _variables(text: str) -> dict[str, str | None]:
    parts = [line.partition("=") for line in text.splitlines() if line.strip()]
    return {name.strip(): value if mark else None for name, mark, value in parts}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _codes(text: str) -> list[int | str]:
    return [read_whole(word) for word in _words(text)]


def _flag(text: str) -> bool | str:
    return FLAGS.get(text.lower(), text)


def _json(text: str) -> Any:
    try:
        return read_json(text)
    except NotJson:
        return text


_READERS: dict[str, Callable[[str], Any]] = {
    "cpu_cores_required": read_whole,
    "cores": read_whole,
    "duration_seconds": read_number,
    "memory_mb_required": read_whole,
    "max_retries": read_whole,
    "timeout_seconds": read_number,
    "kill_grace_seconds": read_number,
    "retry_delay_seconds": read_number,
    "retry_max_delay_seconds": read_number,
    "priority": _priority,
    "environment": _variables,
    "parameters": _json,
    "parameter_values": _json,
    "secrets": uses_in_text,
    "tags": _words,
    "depends_on": _lines,
    "requirements": _lines,
    "rates": _words,
    "retry_only_exit_codes": _codes,
    "retry_never_exit_codes": _codes,
    "pause_after_failures": read_whole,
    "max_running": read_whole,
    "maximum": read_whole,
    "burst": read_whole,
    "rate_per_second": read_number,
    "deadline_seconds": read_number,
    "start_deadline_seconds": read_number,
    "retry_jitter": _flag,
    "catch_up_limit": read_whole,
    "queue_bound": read_whole,
    "misfire_grace_seconds": read_number,
    "jitter_seconds": read_number,
    "first_at_once": _flag,
    "nice": read_whole,
    "max_processes": read_whole,
    "max_file_mb": read_whole,
    "cleanup_after": _words,
    "cleanup_timeout_seconds": read_number,
    "keep_workspace": _flag,
    "keep_days": read_whole,
    "keep_failed_days": read_whole,
    "keep_instances": read_whole,
}
