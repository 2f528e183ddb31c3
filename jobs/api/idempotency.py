"""The header Idempotency-Key: what was granted once is answered again, not done again."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from ninja import Status

from jobs.actions import InvalidInput, Problem
from jobs.actions.reading import shown
from jobs.api.auth import caller_of
from jobs.store import keys

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
LONGEST = 200
EXPECTED = f"1 to {LONGEST} printable ASCII characters"
# `openapi_extra` of each operation that takes the header.
DESCRIBED: dict[str, Any] = {
    "parameters": [
        {
            "name": HEADER,
            "in": "header",
            "required": False,
            "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST},
            "description": (
                "Any text of your own. The same request of the same token with the same key within 24 hours is not "
                f"done again: it gets the first answer, with the header {REPLAYED}: true. Another request: 422."
            ),
        }
    ]
}


def idempotent(operation: Callable[..., Any]) -> Callable[..., Any]:
    """The operation and its answer become durable together, or neither: a refusal keeps nothing, so try again."""

    @functools.wraps(operation)
    def once(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        key = request.headers.get(HEADER)
        if key is None:
            return operation(request, *args, **kwargs)
        with transaction.atomic():
            asked = _digest(request)
            claimed = keys.claim(caller_of(request), _checked(key), asked, timezone.now())
            if claimed.status is not None:
                return _again(claimed.status, claimed.answer) if claimed.request == asked else _refuse(key)
            granted: Status[Any] = operation(request, *args, **kwargs)
            keys.keep(claimed, granted.status_code, json.dumps(granted.value))
            return granted

    # Ninja would look for the names of the operation's types in this module.
    once.__signature__ = inspect.signature(operation, eval_str=True)  # type: ignore[attr-defined]  # as inspect reads it
    return once


def _checked(key: str) -> str:
    if not (0 < len(key) <= LONGEST and key.isascii() and key.isprintable()):
        sentence = f"The header {HEADER} is {shown(key)}; expected {EXPECTED}, such as a UUID."
        raise InvalidInput([Problem(HEADER, shown(key), EXPECTED, sentence)])
    return key


def _refuse(key: str) -> None:
    sentence = (
        f"The key {shown(key)} was used within the last 24 hours for another request; take a new key for a new wish, "
        "or send what was sent then to get its answer."
    )
    raise InvalidInput([Problem(HEADER, shown(key), "a key not used for another request", sentence)])


def _again(status: int, answer: str) -> HttpResponse:
    return HttpResponse(answer, status=status, content_type="application/json", headers={REPLAYED: "true"})


def _digest(request: HttpRequest) -> str:
    """Of method, address, query and body: programs may write the names of one JSON object in another order. Keyed, so
    that nobody who reads the database can try out what a body said: it may have had a secret in it.
    """
    try:
        body = json.dumps(json.loads(request.body), sort_keys=True).encode()
    except (ValueError, RecursionError):  # none, or one that the operation refuses
        body = request.body
    asked = json.dumps([request.method, request.path, sorted(request.GET.lists())])
    return salted_hmac(__name__, asked.encode() + b"\n" + body, algorithm="sha256").hexdigest()
