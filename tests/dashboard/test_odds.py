"""Small things that a newcomer stumbled over: pages beside the way, words said twice, moments in words."""

import pytest
from django.template import Context, Template

from dashboard.live.places import path_of
from dashboard.presentation.failures import read_failures
from tests.dashboard.outputs import printed
from tests.dashboard.places import end, make_job, make_node, make_running

pytestmark = pytest.mark.django_db


def test_page_that_is_not_there_keeps_the_navigation(visitor, client):
    page = visitor.get("/nowhere/").content.decode()
    assert ("Not here" in page, 'aria-label="Pages"' in page) == (True, True)
    alone = client.__class__().get("/nowhere/").content.decode()
    assert ("Not here" in alone, 'aria-label="Pages"' in alone) == (True, False)


def test_refused_sign_in_calls_the_fields_as_the_page_does(client):
    page = client.post("/login/", {"username": "ann", "password": "wrong"}).content.decode()
    assert "User name and password do not belong together." in page
    assert "enter a correct username" not in page


def test_moment_in_words_can_be_said_in_another_zone():
    words = "once, at Thu 24 Dec 2026, 19:00:00 +0100 (Europe/Berlin), unless <b>"
    said = Template("{% load rota %}{{ words|worded }}").render(Context({"words": words}))
    assert said.startswith('Once, at <time datetime="2026-12-24T18:00:00.000Z" data-clock="wall">Thu 24 Dec 2026, 19:')
    assert said.endswith("(Europe/Berlin)</time>, unless &lt;b&gt;")


@pytest.mark.parametrize(
    ("line", "shown"),
    [(b"[rota] could not be started: /srv/none.py: no such file\n", ""), (b"half way\n", "half way")],
)
def test_failure_says_its_reason_once(line, shown):
    running = make_running(make_job(), make_node())
    printed(path_of(running.pk, 1, running.token), line)
    end(running, "failed", error="could not be started: /srv/none.py: no such file")
    [(_, row)] = read_failures(running.created_at)["failures"]
    assert row.last_line == shown
