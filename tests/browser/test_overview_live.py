"""The overview, left open while things happen."""

from itertools import cycle

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from jobs import actions
from jobs.models import Instance
from tests.browser.conftest import HELD
from tests.waiting import until

SLEEP = "import time; print('up', flush=True); time.sleep(600)"


def connected(page, word="live"):
    page.locator("#connection", has_text=word).wait_for()


def hurried(page, word):
    """As `connected`, for what the page says after seconds of silence: its clock, once installed, runs ahead."""
    until(lambda: page.clock.fast_forward(2_000) or page.locator("#connection", has_text=word).count())


def cancel(number):
    actions.cancel_instance(number, actor="bob", now=timezone.now())


@pytest.fixture
def overview(service, signed_in):
    signed_in.goto(service.address)
    connected(signed_in)
    return signed_in


def test_overview_follows_start_and_end(service, overview):
    number = service.submit(SLEEP, "sleeper")
    row = overview.locator(f"#running [data-key='i{number}']")
    row.get_by_text("running").wait_for()
    cell = overview.locator(".cell[data-reserved]", has_text="sleeper")
    cell.wait_for()
    row.get_by_role("button", name="Cancel").click()
    overview.mouse.move(5, 5)
    overview.get_by_text("Nothing runs.").wait_for()
    cell.wait_for(state="detached")


def test_cells_show_measured_load(service, overview):
    service.submit("while True: pass", "spinner")
    overview.locator(".cell[data-reserved][data-band=busy]", has_text="spinner").wait_for()
    assert overview.locator("[data-level]").first.get_attribute("height") is not None


def test_waiting_row_says_why_and_moves_on(service, overview):
    first = service.submit(SLEEP, "first", cpu_cores_required=3)
    service.until(first, "running")
    second = service.submit(SLEEP, "second", cpu_cores_required=3)
    overview.locator("#waiting").get_by_text("Needs 3 cores").wait_for()
    cancel(first)
    overview.locator("#running").locator(f"[data-key='i{second}']").wait_for()
    overview.get_by_text("Nothing waits.").wait_for()


def test_open_menu_and_focus_survive_updates(service, overview):
    overview.locator(".user summary").click()
    number = service.submit(SLEEP, "sleeper")
    overview.locator(f"#running [data-key='i{number}']").get_by_text("running").wait_for()
    assert overview.get_by_role("button", name="Sign out").is_visible()
    overview.keyboard.press("Escape")
    button = overview.locator(f"#running [data-key='i{number}']").get_by_role("button")
    button.focus()
    other = service.submit(SLEEP, "another")
    overview.locator(f"#running [data-key='i{other}']").get_by_text("running").wait_for()
    assert button.evaluate("button => button === document.activeElement")


def test_row_under_the_pointer_stays_where_it_is(service, overview):
    numbers = [service.submit(SLEEP, name) for name in ("above", "hovered", "below")]
    for number in numbers:
        overview.locator(f"#running [data-key='i{number}']").get_by_text("running").wait_for()
    hovered = overview.locator(f"#running [data-key='i{numbers[1]}']")
    hovered.hover()
    before = hovered.bounding_box()
    cancel(numbers[0])
    two, stirred = overview.locator("[data-key=totals] .tile-number", has_text="2"), cycle((20, 21))
    # A mouse that rests for 15 s lets the list go on.
    until(lambda: hovered.hover(position={"x": next(stirred), "y": 5}) or two.count())
    assert hovered.bounding_box() == before
    overview.mouse.move(5, 5)
    overview.locator(f"#running [data-key='i{numbers[0]}']").wait_for(state="detached")


def test_without_socket_the_page_polls(service, signed_in):
    signed_in.clock.install()
    signed_in.route_web_socket("**/ws/live", lambda socket: socket.close())
    signed_in.goto(service.address)
    hurried(signed_in, "polling")
    number = service.submit(SLEEP, "sleeper")
    signed_in.locator(f"#running [data-key='i{number}']").get_by_text("running").wait_for()
    connected(signed_in, "polling")


def test_polling_page_gets_its_log(service, signed_in):
    number = service.submit("import time\nfor n in range(600):\n    print('line', n, flush=True); time.sleep(.2)")
    signed_in.clock.install()
    signed_in.route_web_socket("**/ws/live", lambda socket: socket.close())
    signed_in.goto(f"{service.address}/instances/{number}/")
    hurried(signed_in, "polling")
    signed_in.locator("#log").get_by_text("line 15", exact=True).wait_for()


def test_poll_waits_for_the_answer_to_the_one_before(service, signed_in):
    page = signed_in
    page.clock.install()
    page.route_web_socket("**/ws/live", lambda socket: socket.close())
    page.add_init_script(f"({HELD})('/live/rows/')")
    page.goto(service.address)
    until(lambda: page.clock.fast_forward(2_000) or page.evaluate("held.length"))
    for _ in range(4):
        page.clock.fast_forward(4_000)
    assert page.evaluate("held.length") == 1
    page.evaluate("held[0]()")
    until(lambda: page.clock.fast_forward(2_000) or page.evaluate("held.length > 1"))


def test_late_poll_does_not_call_a_live_page_polling(service, signed_in):
    number, page, refused = service.submit(SLEEP, "sleeper"), signed_in, [True]
    page.clock.install()
    page.route_web_socket("**/ws/live", lambda socket: socket.close() if refused[0] else socket.connect_to_server())
    page.add_init_script(f"({HELD})('/log/?start=')")
    page.goto(f"{service.address}/instances/{number}/")
    until(lambda: page.clock.fast_forward(2_000) or page.evaluate("held.length"))
    refused[0] = False
    connected(page)
    page.evaluate("held[0]()")
    page.evaluate("fetch(location.href).then((answer) => answer.text())")  # comes after it
    assert page.locator("#connection").inner_text() == "live"


def test_cut_socket_comes_back_to_the_truth(service, signed_in):
    sockets, page = [], signed_in

    def relayed(route):
        sockets.append((route, route.connect_to_server()))

    page.route_web_socket("**/ws/live", relayed)
    page.goto(service.address)
    connected(page)
    keep = service.submit(SLEEP, "keep")
    gone = service.submit(SLEEP, "gone")
    page.locator(f"#running [data-key='i{gone}']").get_by_text("running").wait_for()
    for route, server in sockets:
        server.close()
        route.close(code=1011)
    cancel(gone)
    service.until(gone, "cancelled")
    until(lambda: not page.locator(f"[data-key='i{gone}']").count())  # among what waits it may stand a moment longer
    connected(page)
    until(lambda: page.locator("#running [data-key]").count() == Instance.objects.filter(status="running").count())
    assert page.locator(f"#running [data-key='i{keep}']").is_visible()


def test_silent_socket_is_called_stale_and_replaced(service, signed_in):
    swallow, page = [True], signed_in

    def relayed(route):
        server = route.connect_to_server()
        muted = swallow[0]
        server.on_message(lambda text: None if muted else route.send(text))

    page.clock.install()
    page.route_web_socket("**/ws/live", relayed)
    page.goto(service.address)
    hurried(page, "stale")
    swallow[0] = False
    connected(page)


def test_end_of_session_is_said(service, overview):
    Session.objects.all().delete()
    overview.reload()
    overview.get_by_role("heading", name="Sign in").wait_for()
