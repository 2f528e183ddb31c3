"""The site for a browser."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.test import Client
from django.test.testcases import LiveServerThread

from tests.waiting import DEADLINE_SECONDS


@pytest.fixture
def site(transactional_db: None) -> Iterator[str]:
    """The site's address, served with its static files, which pytest-django's own live_server takes for missing."""
    server = LiveServerThread("127.0.0.1", StaticFilesHandler)
    server.daemon = True
    server.start()
    assert server.is_ready.wait(DEADLINE_SECONDS)
    yield f"http://127.0.0.1:{server.port}"
    server.terminate()


def sign_in(context: Any, site: str, user: Any) -> None:
    """All pages of a browser's context."""
    client = Client()
    client.force_login(user)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site}])
