"""The page of an instance as its reader uses it: search, lines, lanes, attempts, curves."""

import shutil

import pytest
from django.utils import timezone

from jobs import actions
from jobs.execution.logwriter import STDOUT, LogWriter
from jobs.execution.rundir import RunDir
from jobs.models import Instance
from tests.browser.conftest import TOLD_BY_HAND, signed_in_at
from tests.fixtures.chromium import opened as in_browser
from tests.waiting import until

LONG = """
import sys
for n in range(1, 60_001):
    print(f"row {n}")
    if n == 20_000:
        sys.stdout.flush()
        print("needle in the middle", file=sys.stderr, flush=True)
"""
LATE_ERRORS = """
import sys
for n in range(1, 32):
    print("row", n, file=sys.stderr if n >= 3 else sys.stdout, flush=True)
"""
INKED = """
print("see (https://example.org/a(b)?c=1), or http://127.0.0.1:9/x. ftp://no.example javascript://no")
print("\\033[7mturned\\033[27m plain \\033[38;5;7mplain too\\033[0m")
"""
SPOKEN_TO_A_TERMINAL = """
import sys, time
for piece in ["\\x1b]0;a ti", "tle\\x07shown \\x1b[3", "8:2::255:80:80mred\\x1b", "[0m\\n", "\\x1b]8;;http://x.example\\x1b\\\\żółw\\x1b]8;;\\x1b\\\\\\n",
              "\\x1b[2K\\x1b[1Gstep 1", "\\x1b[2K\\x1b[1Gstep 2\\n", "50%\\r\\x1b[0m\\a\\0", "\\n|\\b/",
              "\\b-\\x1b[31m🚀x\\b", "\\b10%\\b\\x1b[0m", "\\nhalf \\x1b[38;5;\\nlast"]:
    sys.stdout.write(piece)
    sys.stdout.flush()
    time.sleep(0.05)
"""
TICKING = """
import pathlib, time
n, stop = 0, pathlib.Path(__file__).parents[2] / "stop"
while not stop.exists():
    n += 1
    print(f"tick {n}", flush=True)
    time.sleep(0.02)
"""
ASKED_IN_VAIN_ONCE = """
let failed = false;
const real = window.fetch;
window.fetch = (address, options) => {
    if (failed || !String(address).includes("start=")) return real(address, options);
    failed = true;
    return Promise.reject(new TypeError("no network"));
};"""


def opened(page, service, number, after=""):
    page.goto(f"{service.address}/instances/{number}/{after}")
    page.locator("[data-log-bar]").wait_for()


def stop(service, number):
    (service.home.folder / "runs" / str(number) / "stop").touch()
    service.until(number, "success")


def visible_lines(page):
    return page.evaluate(
        """() => { const log = document.getElementById('log').getBoundingClientRect();
        return [...document.querySelectorAll('#log .line')].filter((line) => { const at = line.getBoundingClientRect();
        return at.bottom > log.top && at.top < log.bottom; }).map((line) => Number(line.dataset.n)); }"""
    )


def frame(start, text, line):
    """What the socket says when something is printed."""
    runs = [[1, 0, line, len(text)]]
    place = {"attempt": 1, "start": start, "end": start + len(text), "skipped": 0, "complete": False}
    return {"kind": "log", "text": text, "runs": runs} | place


def is_in_view(page, number):
    """A line is found first, and scrolled to then."""
    until(lambda: number in visible_lines(page))


def test_search_goes_where_the_page_has_not_loaded(service, signed_in):
    page, number = signed_in, service.submit(LONG)
    service.until(number, "success")
    opened(page, service, number)
    page.locator("#log").get_by_text("row 60000", exact=True).wait_for()
    page.get_by_label("Words in the log").fill("NEEDLE in")
    page.get_by_text("1 line", exact=True).wait_for()
    page.keyboard.press("Enter")
    found = page.locator("#log .line.found", has_text="needle in the middle")
    found.wait_for()
    is_in_view(page, int(found.get_attribute("data-n")))
    page.get_by_text("1 of 1", exact=True).wait_for()


def test_enter_goes_on_and_shift_enter_back(service, signed_in):
    page, number = signed_in, service.submit(LONG)
    service.until(number, "success")
    opened(page, service, number, "#L1")
    page.locator(".line.chosen[data-n='1']").wait_for()
    page.get_by_label("Words in the log").fill("row 5000")
    page.get_by_text("11 lines", exact=True).wait_for()
    for key, line in (("Enter", 5000), ("Enter", 50_001), ("Shift+Enter", 5000), ("Shift+Enter", 50_010)):
        page.keyboard.press(key)
        page.locator(f".line.found[data-n='{line}']").wait_for()
        is_in_view(page, line)


def test_link_to_a_line_shows_it_on_load(service, signed_in):
    page, number = signed_in, service.submit(LONG)
    service.until(number, "success")
    opened(page, service, number, "#L12345")
    page.locator(".line.chosen", has_text="row 12345").wait_for()
    is_in_view(page, 12_345)
    page.locator(".line[data-n='12340'] .line-number").click()
    page.locator(".line.chosen[data-n='12340']").wait_for()
    assert page.url.endswith("#L12340")
    page.get_by_role("button", name="Go to the end").click()
    page.locator("#log").get_by_text("row 60000", exact=True).wait_for()
    is_in_view(page, 60_001)


def test_earlier_and_later_lines_join_without_a_gap(service, signed_in):
    page, number = signed_in, service.submit(LONG)
    service.until(number, "success")
    opened(page, service, number, "#L30000")
    page.locator(".line.chosen").wait_for()
    page.locator("#log").evaluate("log => log.scrollTop = 0")
    first = visible_lines(page)[0]
    page.get_by_role("button", name="Show earlier lines").click()
    page.locator(f".line[data-n='{first - 100}']").wait_for(state="attached")
    is_in_view(page, first)
    shown = page.locator("#log .line").evaluate_all("lines => lines.map((line) => Number(line.dataset.n))")
    assert shown == list(range(shown[0], shown[-1] + 1))


def test_lane_shows_one_stream_of_the_whole_log(service, signed_in):
    page, number = signed_in, service.submit(LONG)
    service.until(number, "success")
    opened(page, service, number)
    page.get_by_role("button", name="stderr").click()
    page.locator("#log .line[data-stream='2']").wait_for()
    until(lambda: page.locator("#log .line-text").all_inner_texts() == ["needle in the middle"])
    page.get_by_role("button", name="All").click()
    page.locator("#log").get_by_text("row 60000", exact=True).wait_for()


def test_lane_with_nothing_before_it_offers_nothing(service, signed_in):
    """From line 3 on, it said "Earlier lines are not shown here", with a button that did nothing."""
    page, number = signed_in, service.submit(LATE_ERRORS)
    service.until(number, "success")
    opened(page, service, number)
    page.get_by_role("button", name="stderr").click()
    page.locator("#log .line[data-n='3']").wait_for()
    assert page.get_by_role("button", name="Show earlier lines").count() == 0


def test_lane_without_a_line_says_so(service, signed_in):
    page, number = signed_in, service.submit("for n in range(3000): print(n)")
    service.until(number, "success")
    opened(page, service, number)
    page.get_by_role("button", name="stderr").click()
    page.locator("#log").get_by_text("Nothing was printed on stderr.", exact=True).wait_for()
    page.get_by_text("this is the end of its log").wait_for()
    assert page.locator("#log").inner_text() == "Nothing was printed on stderr."


def test_addresses_are_links_and_reverse_video_is_drawn(service, signed_in):
    page, number = signed_in, service.submit(INKED)
    service.until(number, "success")
    opened(page, service, number)
    links = page.locator("#log .line-text a")
    links.first.wait_for()
    assert links.evaluate_all("all => all.map((a) => [a.getAttribute('href'), a.rel])") == [
        ["https://example.org/a(b)?c=1", "noreferrer noopener"],
        ["http://127.0.0.1:9/x", "noreferrer noopener"],
    ]
    back = page.locator("#log .inverse", has_text="turned")
    assert back.evaluate("e => getComputedStyle(e).backgroundColor") != "rgba(0, 0, 0, 0)"
    assert page.locator("#log .inverse", has_text="plain").count() == 0


def test_words_to_a_terminal_are_not_shown(service, signed_in):
    page = signed_in
    number = service.submit(SPOKEN_TO_A_TERMINAL)
    opened(page, service, number)
    service.until(number, "success")
    texts = ["shown red", "żółw", "step 2", "50%", "-10%", "half ", "last"]
    until(lambda: page.locator("#log .line-text").all_text_contents() == texts)
    page.reload()
    until(lambda: page.locator("#log .line-text").all_text_contents() == texts)


@pytest.fixture
def capped(service):
    """The number of an instance whose log has lost its middle to a cap."""
    number = service.submit("print(1)")
    service.until(number, "success")
    [path] = (service.home.folder / "runs" / str(number)).iterdir()
    shutil.rmtree(path / "log")
    with RunDir(str(path)) as rundir:
        writer = LogWriter(rundir, 200_000)
        for n in range(5000):
            writer.write(STDOUT, b"row %d %s\n" % (n, b"." * 90))
        writer.close()
    return number


def test_what_the_cap_dropped_is_said_above_the_lines(service, signed_in, capped):
    """It was said below them, where nothing was dropped."""
    opened(signed_in, service, capped)
    notes = signed_in.locator("#log > .notice")
    until(lambda: notes.count() == 2)
    assert "of output before this were dropped" in notes.nth(1).text_content()
    assert signed_in.locator("#log > :last-child").get_attribute("class") == "line"


def test_gap_between_two_lines_is_said_where_it_is(service, signed_in, capped):
    """One line followed the other as if nothing had been between them."""
    opened(signed_in, service, capped)
    signed_in.evaluate("location.hash = '#L1500'")
    note = signed_in.locator("#log > .notice", has_text="lines were dropped here")
    note.wait_for()
    before, after = (int(note.evaluate(f"n => n.{which}ElementSibling.dataset.n")) for which in ("previous", "next"))
    assert note.text_content() == f"{after - before - 1:,} lines were dropped here: the log has a cap."


def test_times_of_lines_follow_the_zone(service, browser):
    number = service.submit("print('x')")
    service.until(number, "success")
    with in_browser(browser, timezone_id="Asia/Tokyo") as page, signed_in_at(service, page):
        opened(page, service, number)
        line = page.locator("#log .line").first
        utc = line.get_attribute("data-at")
        page.locator("details.user > summary").click()
        page.locator("[data-switch='zone'] label", has=page.locator("input[value='mine']")).click()
        page.locator(f"#log .line:not([data-at='{utc}'])").first.wait_for()
        assert line.get_attribute("data-at") == f"{(int(utc[:2]) + 9) % 24:02}{utc[2:]}"


def test_reader_who_scrolled_up_is_left_alone(service, signed_in):
    page, number = signed_in, service.submit(TICKING)
    opened(page, service, number)
    page.locator("#log").get_by_text("tick 80", exact=True).wait_for()
    page.locator("#log").evaluate("log => log.scrollTop = 0")
    page.get_by_role("button", name="Follow", exact=True).wait_for()
    page.locator("#log").get_by_text("tick 140", exact=True).wait_for(state="attached")
    assert visible_lines(page)[0] == 1
    page.get_by_role("button", name="Follow", exact=True).click()
    page.get_by_role("button", name="Following").wait_for()
    until(lambda: visible_lines(page)[-1] > 130)
    stop(service, number)


@pytest.mark.parametrize("network", ["", ASKED_IN_VAIN_ONCE], ids=["", "network-gone"])
def test_lines_that_are_sent_twice_are_shown_once(network, service, signed_in, tmp_path):
    """A poll and the socket that came meanwhile both brought them. Without a network for the moment of asking where
    the page is, what had come was lost.
    """
    page, gate = signed_in, tmp_path / "gate"
    script = f"import os, time\nprint('one', flush=True)\nwhile not os.path.exists({str(gate)!r}): time.sleep(.02)"
    number = service.submit(f"{script}\nprint('two')")
    page.add_init_script(TOLD_BY_HAND + network)
    until(lambda: page.request.get(f"{service.address}/instances/{number}/log/").json()["end"] == 4)
    opened(page, service, number)
    page.locator("#log").get_by_text("one", exact=True).wait_for()
    gate.touch()
    service.until(number, "success")
    page.evaluate("frame => socket.tell(frame)", frame(0, "one\ntwo\n", line=1))
    page.locator("#log").get_by_text("two", exact=True).wait_for()
    assert page.locator("#log .line-text").all_inner_texts() == ["one", "two"]


def test_line_that_comes_while_somebody_scrolls_up_leaves_them_there(service, signed_in):
    """It took them to the end again, where it came before the browser told of their scrolling."""
    page, text = signed_in, "".join(f"row {n}\n" for n in range(400))
    number = service.submit(f"print({text!r}, end='')")
    service.until(number, "success")
    page.add_init_script(TOLD_BY_HAND)
    opened(page, service, number)
    page.locator("#log").get_by_text("row 399", exact=True).wait_for()
    both = "frame => { log.scrollTop = 0; socket.tell(frame); return log.scrollTop; }"
    assert page.evaluate(both, frame(len(text), "late\n", line=401)) == 0
    page.locator("#log").get_by_text("late", exact=True).wait_for()


def test_times_and_wrapping_are_remembered(service, signed_in):
    page, number = signed_in, service.submit("print('y' * 2000)")
    service.until(number, "success")
    opened(page, service, number)
    page.get_by_role("button", name="Times").click()
    page.get_by_role("button", name="Wrap").click()
    page.locator("#log[data-times]:not([data-wrap])").wait_for()
    assert page.locator("#log").evaluate("log => log.scrollWidth > log.clientWidth")
    page.reload()
    page.locator("#log[data-times]:not([data-wrap])").wait_for()


def test_log_bar_works_where_nothing_may_be_stored(service, signed_in):
    """Reading a blocked storage raised, and with it the lanes and the search did nothing."""
    page, number = signed_in, service.submit("print('y')")
    service.until(number, "success")
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('blocked') } })"
    )
    opened(page, service, number)
    page.get_by_role("button", name="Times").click()
    page.locator("#log[data-times]").wait_for()
    page.get_by_role("button", name="stderr").click()
    page.get_by_text("Nothing was printed on stderr.").wait_for()


def test_second_run_shows_nothing_of_the_first(service, signed_in):
    page = signed_in
    number = service.submit("import os\nprint('run marker', os.environ['ROTA_INSTANCE_ID'])")
    service.until(number, "success")
    opened(page, service, number)
    page.locator("#log").get_by_text(f"run marker {number}", exact=True).wait_for()
    page.get_by_role("button", name="Run again").click()
    page.wait_for_url(f"**/instances/{number + 1}/")
    page.locator("#log").get_by_text(f"run marker {number + 1}", exact=True).wait_for()
    # Until: with the end of the run its log is drawn anew.
    until(lambda: page.locator("#log .line-text").all_inner_texts() == [f"run marker {number + 1}"])


def test_curves_grow_while_it_runs(service, signed_in):
    page, number = signed_in, service.submit(TICKING)
    opened(page, service, number)
    page.locator("[data-curve='cores'] canvas").wait_for()
    page.locator("[data-curves-summary]", has_text="cores on average").wait_for()
    page.get_by_text("As a table").click()
    page.locator("[data-curves-table] tr").nth(1).wait_for()
    stop(service, number)
    page.locator("[data-status='success']").wait_for()


def test_curves_follow_a_retry_that_is_soon_over(service, signed_in):
    """The second came and went between two looks: what the first had used stayed there until a reload."""
    page = signed_in
    script = TICKING + "raise SystemExit(3 if os.environ['ROTA_ATTEMPT'] == '1' else 0)"
    number = service.submit(f"import os\n{script}", max_retries=1, retry_delay_seconds=0)
    opened(page, service, number)
    summary = page.locator("[data-curves-summary]")
    summary.filter(has_text="cores on average").wait_for()
    stop(service, number)
    told = page.request.get(f"{service.address}/instances/{number}/samples/").json()
    assert (told["attempt"], told["ended"]) == (2, True)
    until(lambda: summary.text_content() == told["summary"])


def test_arrows_go_from_attempt_to_attempt(service, signed_in):
    page = signed_in
    number = service.submit("import os; print('try', os.environ['ROTA_ATTEMPT']); raise SystemExit(3)", max_retries=1,
                            retry_delay_seconds=0)  # fmt: skip
    service.until(number, "failed")
    opened(page, service, number)
    tab = page.get_by_role("tab", name="Attempt 2")
    assert tab.get_attribute("aria-selected") == "true"
    tab.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.locator("[role=tab][aria-selected=true]", has_text="Attempt 1").wait_for()
    page.get_by_text("try 1", exact=True).wait_for()
    assert page.locator("[role=tabpanel]").get_attribute("aria-labelledby") == "tab-1"


def test_deleted_instance_leaves_no_button(service, signed_in):
    page, number = signed_in, service.submit("print(1)")
    service.until(number, "success")
    opened(page, service, number)
    page.locator("#connection", has_text="live").wait_for()
    actions.delete_job(Instance.objects.get(pk=number).job_id, actor="ann", now=timezone.now())
    page.get_by_text("does not exist").wait_for()
    page.get_by_role("button", name="Retry").wait_for(state="detached")
    assert page.get_by_role("button", name="Run again").count() == 0
