"""What a browser may load into our pages (our own files, and nothing inline), and that it keeps none of them."""

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import cast

from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

# The "self" of connect-src covers the WebSocket of the same origin. Django admin and the API page draw icons from data:
# images.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
View = Callable[[HttpRequest], HttpResponse]
AsyncView = Callable[[HttpRequest], Awaitable[HttpResponse]]


@sync_and_async_middleware
def content_security_policy(get_response: View | AsyncView) -> View | AsyncView:
    """Sets the header on every answer of Django, errors included; first in MIDDLEWARE for that."""
    if iscoroutinefunction(get_response):
        return _for_async(get_response)
    return _for_sync(cast("View", get_response))


def _for_sync(get_response: View) -> View:
    def middleware(request: HttpRequest) -> HttpResponse:
        return _with_policy(get_response(request))

    return middleware


def _for_async(get_response: AsyncView) -> AsyncView:
    async def middleware(request: HttpRequest) -> HttpResponse:
        return _with_policy(await get_response(request))

    return middleware


def _with_policy(response: HttpResponse) -> HttpResponse:
    response.headers["Content-Security-Policy"] = POLICY
    # A page says how things are now: kept by the browser, Back would show how they were as if it were now.
    response.headers.setdefault("Cache-Control", "no-store")
    return response
