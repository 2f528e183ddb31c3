"""Nothing that a caller says is ignored: unknown query parameters and malformed bodies are refused."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, NoReturn

from django.http import HttpRequest

from jobs.actions import InvalidInput, NotFound, Problem
from jobs.actions.reading import fault_of, shown
from jobs.api.problems import RequestError
from jobs.core.near import did_you_mean

LARGEST_ID = 2**63 - 1


def strict_query(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Refuses a query parameter that the operation does not know: a misspelt filter would match everything."""
    known = [name for name in inspect.signature(operation).parameters if name not in ("request", "response")]

    @functools.wraps(operation)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        unknown = [name for name in request.GET if name not in known or name in path_names(request)]
        problems = [_unknown(name, request, known) for name in unknown] + _unstorable(request) + _repeated(request)
        if problems:
            raise InvalidInput(problems)
        return operation(request, *args, **kwargs)

    return checked


def path_names(request: HttpRequest) -> set[str]:
    return set(request.resolver_match.kwargs) if request.resolver_match else set()


def _unknown(name: str, request: HttpRequest, known: list[str]) -> Problem:
    choices = [choice for choice in known if choice not in path_names(request)]
    hint = did_you_mean(name, choices, f"known are {', '.join(choices) or 'none'}.")
    sentence = f"There is no query parameter {shown(name)}; {hint}"
    return Problem(shown(name).strip('"'), shown(request.GET[name]), "a known query parameter", sentence)


def _repeated(request: HttpRequest) -> list[Problem]:
    """All but the last would be ignored."""
    return [
        Problem(shown(name).strip('"'), shown(values[-1]), "one value", f"{shown(name)} is given twice; give it once.")
        for name, values in request.GET.lists()
        if len(values) > 1
    ]


def _unstorable(request: HttpRequest) -> list[Problem]:
    """What no column can hold cannot be looked for either: PostgreSQL raises."""
    faults = {name: fault_of(str(value), lines=True) for name, value in request.GET.items()}
    return [
        Problem(shown(name).strip('"'), shown(request.GET[name]), "text without it", f"{name} contains {fault}.")
        for name, fault in faults.items()
        if fault
    ]


def identifier(kind: str, text: str) -> int:
    """The id in an address. Raises NotFound for what cannot be one, such as a number that no column holds."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else 0
    if not 0 < number <= LARGEST_ID:
        raise NotFound(kind, shown(text))
    return number


def json_object(request: HttpRequest) -> dict[str, Any]:
    """The request's body. Raises RequestError unless it is one JSON object that says each name once."""
    kind = request.content_type or ""
    if kind not in ("application/json", "text/json") and not kind.endswith("+json"):
        given = shown(kind or "nothing")
        sentence = f"The body is sent as {given}; send JSON, with the header Content-Type: application/json."
        raise RequestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, sentence)
    try:
        value = json.loads(request.body, object_pairs_hook=_once_each, parse_constant=_no_number)
    except RecursionError:
        raise RequestError(HTTPStatus.BAD_REQUEST, "The body is nested too deeply to be read.") from None
    except ValueError as error:  # also of bytes that are not UTF-8, and of numbers with thousands of digits
        raise RequestError(HTTPStatus.BAD_REQUEST, f"The body is not JSON: {shown(str(error))[1:-1]}.") from None
    if not isinstance(value, dict):
        raise RequestError(HTTPStatus.BAD_REQUEST, "The body is JSON but no object; send names and values in { }.")
    return value


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {shown(twice)} is given more than once")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
