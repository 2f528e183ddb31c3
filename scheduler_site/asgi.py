"""The site as one ASGI application: static files by ServeStatic, pages and API by Django, sockets by Channels."""

import os
from wsgiref.headers import Headers

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.conf import settings
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application
from servestatic import ServeStaticASGI

from scheduler_site.content_security import POLICY
from scheduler_site.database_answers import SocketDatabaseAnswers
from scheduler_site.proxy import BehindProxy

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_site.settings")
pages = get_asgi_application()

from dashboard.routing import websocket_urlpatterns  # noqa: E402  # its consumers need the models that are loaded now
from scheduler_site import urls  # noqa: E402, F401  # loaded before the port answers, not by the first request
from scheduler_site.origin import SameOriginValidator  # noqa: E402  # as the next


def add_security_headers(headers: Headers, _path: str, _url: str) -> None:
    headers["Content-Security-Policy"] = POLICY
    headers["X-Content-Type-Options"] = "nosniff"


# Not ServeStatic's middleware: as one of Django's it would be awaited for every page, and files would pass all others.
with_static_files = (
    ASGIStaticFilesHandler(pages)
    if settings.DEBUG
    else ServeStaticASGI(
        pages,
        root=settings.STATIC_ROOT,
        prefix=settings.STATIC_URL,
        allow_all_origins=False,
        add_headers_function=add_security_headers,
    )
)
by_protocol = ProtocolTypeRouter(
    {
        "http": with_static_files,
        "websocket": AllowedHostsOriginValidator(
            SameOriginValidator(SocketDatabaseAnswers(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))))
        ),
    }
)
application = BehindProxy(by_protocol, sub_path=settings.SUB_PATH, trusted=settings.TRUSTED_PROXY)
