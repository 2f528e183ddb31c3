"""JSON as people write it into a form, and as they are shown it there."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from jobs.core.texts import shown


class NotJson(ValueError):
    """The message says what is wrong and where, to follow "is no JSON: "."""


def read_json(text: str) -> Any:
    """Raises NotJson, also for what only Python takes for JSON, and where a name is given twice in one object."""
    try:
        return json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg} in line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise NotJson("it is nested too deeply") from None
    except ValueError as error:
        raise NotJson(str(error)) from None


def written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the name {shown(next(name for name in names if names.count(name) > 1))} is given twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
