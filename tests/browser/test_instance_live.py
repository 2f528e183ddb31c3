"""One instance watched in a browser, from the click to its end."""

from tests.dashboard.places import NAUGHTY
from tests.waiting import until

STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    os.fork()
else:
    print("stubborn", flush=True)
while not os.path.exists({gate!r}):
    time.sleep(0.02)
"""


def badge(page, word):
    page.locator(f"[data-status='{word}']").wait_for()


def output(page, text):
    page.locator("#log").get_by_text(text).first.wait_for()


def test_submitted_script_is_watched_to_its_end(service, signed_in):
    page = signed_in
    gate = service.home.folder / "gate"
    page.goto(f"{service.address}/jobs/new/")
    page.fill(
        "[name=script_content]",
        f"import os, time\nprint('first line', flush=True)\nwhile not os.path.exists({str(gate)!r}): time.sleep(.02)\n"
        "print('last line')",
    )
    assert page.input_value("[name=name]") == "first-line"
    page.get_by_role("button", name="Run it now").click()
    output(page, "first line")
    badge(page, "running")
    gate.touch()
    badge(page, "success")
    output(page, "last line")
    assert page.locator(".verdict-sentence").inner_text().startswith("Succeeded in ")
    assert page.locator(".stage-word").all_inner_texts() == ["queued", "starting", "running", "success"]


def test_cancel_button_leaves_no_process(service, signed_in):
    page, gate = signed_in, service.home.folder / "let go"
    number = service.submit(STUBBORN.format(gate=str(gate)), kill_grace_seconds=60)
    page.goto(f"{service.address}/instances/{number}/")
    output(page, "stubborn")
    page.get_by_role("button", name="Cancel").click()
    badge(page, "stopping")
    gate.touch()
    badge(page, "cancelled")
    page.get_by_text("Descendants ended").wait_for()


def test_nothing_a_job_says_is_html(service, signed_in):
    page = signed_in
    number = service.submit(f"print({NAUGHTY!r})\nraise SystemExit({NAUGHTY!r})", NAUGHTY, description=NAUGHTY)
    page.goto(f"{service.address}/instances/{number}/")
    badge(page, "failed")
    output(page, NAUGHTY)
    page.goto(service.address)
    page.locator("#failures").get_by_text(NAUGHTY).first.wait_for()
    page.locator("#connection", has_text="live").wait_for()
    assert "Overview" in page.title()
    assert page.locator("img").count() == 0


def test_colours_returns_and_letters_come_out_right(service, signed_in):
    page = signed_in
    number = service.submit(
        "import sys, time\n"
        "print('\\x1b[1;32mgreen\\x1b[0m plain', flush=True)\n"
        "for done in range(0, 101, 20):\n    print(f'\\r{done:3}%', end='', flush=True); time.sleep(.05)\n"
        "print()\n"
        "for byte in '\\u017c\\u00f3\\u0142w\\u20ac\\U0001f680'.encode():\n"
        "    sys.stdout.buffer.write(bytes([byte])); sys.stdout.flush(); time.sleep(.02)\n"
    )
    page.goto(f"{service.address}/instances/{number}/")
    badge(page, "success")
    page.get_by_text("this is the end of its log").wait_for()
    live = page.locator("#log").inner_text()
    assert live.split("\n") == ["green plain", "100%", "\u017c\u00f3\u0142w\u20ac\U0001f680"]
    assert page.locator("#log .ansi-green-fg.bold").inner_text() == "green"
    page.reload()
    page.locator("#log .ansi-green-fg").wait_for()
    assert page.locator("#log").inner_text() == live


def test_next_attempt_begins_with_an_empty_log(service, signed_in):
    page = signed_in
    number = service.submit(
        "import os, pathlib, sys, time\nfirst = os.environ['ROTA_ATTEMPT'] == '1'\n"
        "print('at first' if first else 'again', flush=True)\n"
        "while first and not (pathlib.Path(__file__).parents[2] / 'seen').exists(): time.sleep(0.05)\n"
        "sys.exit(first)\n",
        max_retries=1,
        retry_delay_seconds=0,
    )
    page.goto(f"{service.address}/instances/{number}/")
    output(page, "at first")
    (service.home.folder / "runs" / str(number) / "seen").touch()
    output(page, "again")
    until(lambda: page.locator("#log").inner_text() == "again")
    page.get_by_role("tab", name="Attempt 1").click()
    output(page, "at first")


def test_flood_keeps_the_page_small(service, signed_in):
    page = signed_in
    number = service.submit("for n in range(100_000):\n    print('y' * 40, n)\nprint('x' * 3_000_000)\nprint('after')")
    page.goto(f"{service.address}/instances/{number}/")
    output(page, "after")
    badge(page, "success")
    assert len(page.locator("#log").inner_text()) < 350_000
    assert page.locator("#log .line").count() <= 2000
    page.get_by_text("the download has them").first.wait_for()
