"""A form that is sent twice is done once: the second click of a double click gets the answer of the first.

Each form that is drawn carries a mark of its own; another button of it, or another text in it, is another wish. Kept in
the process that serves it; a browser with scripts does not send it twice in the first place.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future

from django.http import HttpRequest, HttpResponse

FIELD = "form_mark"
MOST_KEPT = 500
PATIENCE_SECONDS = 20.0

Key = tuple[int | None, str]  # of the user, and of what was sent

_answers: OrderedDict[Key, Future[HttpResponse]] = OrderedDict()
_mutex = threading.Lock()


def new_mark() -> str:
    return secrets.token_urlsafe(12)


def once(request: HttpRequest, act: Callable[[], HttpResponse]) -> HttpResponse:
    """`act()`, or what it answered to the same form of the same user before. A refusal is forgotten: try again.

    Without a mark, as programs send it, each request counts. Raises what `act` raises.
    """
    if not request.POST.get(FIELD):
        return act()
    sent = f"{request.path}?{request.POST.urlencode()}"
    key = (request.user.pk, hashlib.sha256(sent.encode()).hexdigest())
    with _mutex:
        known = _answers.get(key)
        if known is None:
            mine = _answers[key] = Future()
            while len(_answers) > MOST_KEPT:
                _answers.popitem(last=False)
    return known.result(timeout=PATIENCE_SECONDS) if known else _first(key, mine, act)


def _first(key: Key, answer: Future[HttpResponse], act: Callable[[], HttpResponse]) -> HttpResponse:
    try:
        response = act()
    except BaseException as error:
        _forget(key)
        answer.set_exception(error)
        raise
    if response.status_code >= 400:
        _forget(key)
    answer.set_result(response)
    return response


def _forget(key: Key) -> None:
    with _mutex:
        _answers.pop(key, None)
