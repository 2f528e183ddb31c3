"""Pages whose tab is hidden, whose engine is silent, or whose server is gone and comes back."""

from datetime import timedelta
from subprocess import DEVNULL

import pytest
from django.utils import timezone

from jobs.models import Instance, Node
from tests.browser.conftest import TOLD_BY_HAND, answering, at_home, serving, signed_in_at

PAGES_ONLY = ["-m", "tests.browser.storming"]

HIDE = """hidden => {
    Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def connected(page, word="live"):
    page.locator("#connection", has_text=word).wait_for()


def title(page, wanted):
    page.wait_for_function("wanted => document.title === wanted", arg=wanted)


def names_of(page):
    return page.locator("#waiting .row .row-title").all_inner_texts()


def icon(page):
    """Its name, without the hash of what is in it."""
    return page.locator("link[rel=icon]").get_attribute("href").rpartition("/")[2].partition(".")[0]


def test_hidden_tab_draws_nothing_and_tells_of_trouble(service, signed_in):
    page, sent = signed_in, []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda _: sent.append(page.url)))
    page.clock.install()
    page.goto(service.address)
    connected(page)
    page.evaluate(HIDE, True)
    service.until(service.submit("raise SystemExit(3)", "breaks"), "failed")
    title(page, "(1) Overview · Rota")
    assert icon(page) == "favicon-bad"
    assert page.locator("#failures .row").count() == 0
    page.clock.fast_forward(6_000)
    connected(page, "resting")
    page.clock.resume()
    service.until(service.submit("raise SystemExit(3)", "breaks again"), "failed")
    before = len(sent)
    page.clock.fast_forward(31_000)
    title(page, "(2) Overview · Rota")
    assert len(sent) == before
    assert page.locator("#failures .row").count() == 0
    page.evaluate(HIDE, False)
    page.locator("#failures .row").nth(1).wait_for()
    connected(page)


def test_hidden_tab_leaves_what_was_under_way_to_it(service, signed_in):
    page, row = signed_in, '<li class="row" data-key="late">late</li>'
    page.add_init_script(TOLD_BY_HAND)
    page.goto(service.address)
    connected(page)
    regions = {"failures": {"order": ["late"], "rows": {"late": row}}}
    late = {"kind": "rows", "topic": "overview", "board": "b", "version": 7, "regions": regions}
    page.evaluate(HIDE, True)
    page.evaluate("frame => socket.tell(frame)", late)
    assert page.locator("[data-key=late]").count() == 0
    page.evaluate(HIDE, False)
    page.evaluate("frame => socket.tell(frame)", late)
    assert page.locator("[data-key=late]").count() == 1


@pytest.fixture
def stepless(browser, blank, tmp_path, django_db_blocker):
    """Pages without an engine, on a node whose heartbeat the test writes."""
    with serving(PAGES_ONLY, blank, tmp_path, stdin=DEVNULL) as service, at_home(service, django_db_blocker):
        yield service


def test_silent_engine_is_said_in_title_and_page(stepless, page):
    with signed_in_at(stepless, page):
        page.goto(stepless.address)
        connected(page)
        title(page, "Overview · Rota")
        Node.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=5))
        title(page, "(!) Overview · Rota")
        assert icon(page) == "favicon-bad"
        page.get_by_text("The engine on atlas does not step").first.wait_for()
        Node.objects.update(heartbeat_at=timezone.now() + timedelta(hours=1))
        title(page, "Overview · Rota")
        assert icon(page) == "favicon"


def test_server_that_is_gone_is_said_and_found_again(stepless, page):
    with signed_in_at(stepless, page, expected=("WebSocket", "ERR_")):
        page.goto(stepless.address)
        connected(page)
        shown = names_of(page)
        assert shown
        stepless.process.terminate()
        connected(page, "offline")
        title(page, "(offline) Overview · Rota")
        assert page.locator("body[data-silent]").count() == 1
        assert names_of(page) == shown
        stepless.process.wait()
        gone = Instance.objects.filter(status="queued").order_by("order_key").first()
        Instance.objects.filter(pk=gone.pk).update(status="cancelled", ended_at=timezone.now())
        with answering(PAGES_ONLY, stepless.home.folder, int(stepless.address.rpartition(":")[2]), stdin=DEVNULL):
            connected(page)
            page.locator(f"[data-key=i{gone.pk}]").wait_for(state="detached")
            title(page, "Overview · Rota")
            assert page.locator("body[data-silent]").count() == 0
