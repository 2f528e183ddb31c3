"""What a page says when the database cannot write (another program holds it, or the disk is full), and when what the
page is about is deleted while it is read.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.core.exceptions import ObjectDoesNotExist
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

log = logging.getLogger(__name__)
REMOVED = "What you asked for was deleted while it was read."


class DatabaseAnswers:
    """Middleware: an OperationalError of a view becomes a 503 page, one line in the log, and nothing stored; an
    ObjectDoesNotExist a 404 page. No view has a row whose others it cannot find, unless between two queries they went.
    """

    sync_capable = async_capable = True

    def __init__(self, get_response):  # type: ignore[no-untyped-def]  # Django's middleware is either kind of callable
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest):  # type: ignore[no-untyped-def]  # a response, or one to await
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, ObjectDoesNotExist):
            return render(request, "404.html", {"exception": REMOVED}, status=404)
        if not isinstance(error, OperationalError):
            return None
        log.error("%s %s: the database could not do it: %s", request.method, request.path, error)
        return render(request, "503.html", status=503)


class SocketDatabaseAnswers:
    """The same of a socket: who opens it, the database does not tell. It is refused, and its page comes again."""

    def __init__(self, application: Callable[..., Awaitable[None]]) -> None:
        self.application = application

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        try:
            await self.application(scope, receive, send)
        except OperationalError as error:
            log.error("%s: the database could not do it: %s", scope["path"], error)
            await send({"type": "websocket.close", "code": 1013})  # try again later
