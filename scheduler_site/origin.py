"""Sockets are opened by our own pages only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

Application = Callable[..., Awaitable[None]]


class SameOriginValidator:
    """Refuses a socket whose Origin is not the address that it asks for, port included.

    Cookies ignore ports: without this, a page of any other program on this machine could read what a user may see.
    The scheme is not compared, because a proxy may have ended TLS; CSRF_TRUSTED_ORIGINS may name others.
    """

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        headers = {name.lower(): value.decode("latin-1") for name, value in scope.get("headers", ())}
        if is_same_origin(headers.get(b"origin", ""), headers.get(b"host", "")):
            await self.application(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 1000})  # before it was accepted: HTTP 403


def is_same_origin(origin: str, host: str) -> bool:
    """Whether a page of `origin` may open a socket to `host` (name and port, as in the header)."""
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        parts = urlsplit(origin)
        asked = urlsplit(f"{parts.scheme}://{host}")
        return (parts.hostname, parts.port) == (asked.hostname, asked.port) and bool(parts.hostname)
    except ValueError:  # no address at all
        return False
