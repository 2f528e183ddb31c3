"""Daphne in this process: HTTP and WebSocket, until the service is asked to stop."""

from __future__ import annotations

import signal
from collections.abc import Callable

from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server  # installs the asyncio reactor: before anything else imports one
from twisted.internet import reactor
from twisted.web.http import RESPONSES

# A page that still renders gets this long; a socket is closed by the browser's side or by then.
CLOSE_SECONDS = 5
# Twisted knows no words for it, and would say "422 Unknown Status" of whatever the API or a form refuses.
RESPONSES[422] = b"Unprocessable Entity"


def serve(host: str, port: int, *, on_ready: Callable[[], None], on_stop: Callable[[], None]) -> None:
    """Answer on `host`:`port` until SIGTERM or SIGINT. Then `on_stop` runs while pages still answer; then return."""
    from scheduler_site.asgi import application

    server = Server(
        application,
        endpoints=build_endpoint_description_strings(host=host, port=port),
        signal_handlers=False,
        application_close_timeout=CLOSE_SECONDS,
        ready_callable=on_ready,
        server_name="rota",
    )

    def asked(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)  # a second signal is at once
        reactor.callFromThread(reactor.callInThread, drain)

    def drain() -> None:
        try:
            on_stop()
        finally:
            reactor.callFromThread(reactor.stop)  # type: ignore[misc]  # a zope interface: its methods have no self

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, asked)
    server.run()
