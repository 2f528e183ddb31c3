"""What all pages share: theme, keys, time zone, messages."""

import re

import pytest
from django.utils import timezone

from dashboard.presentation.navigation import PAGES
from jobs import actions

DAILY = {"schedule_type": "daily", "schedule_expression": "02:30", "timezone": "America/Phoenix"}
BLOCKED = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('blocked'); }})"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
# At once: after 1.5 s, which a busy machine may take for two keys, a letter is one by itself.
PRESS = "keys => keys.forEach(key => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true})))"
PLACES = ["/jobs/", "/admin/", "/api/v1/docs", "/login/"]


def make_job():
    raw = {"name": "nightly", "kind": "command", "command": "true", **DAILY}
    return actions.create_job(raw, actor="ann", now=timezone.now()).job_id


def choose(page, word):
    """In the account's menu, which is opened for it."""
    if not page.locator(".user .menu").is_visible():
        page.locator(".user summary").click()
    page.locator(".menu label", has_text=word).click()


@pytest.mark.parametrize("word", ["Light", "Dark"])
def test_chosen_theme_holds_on_every_page(service, signed_in, word):
    signed_in.emulate_media(color_scheme="dark" if word == "Light" else "light")
    signed_in.goto(service.address)
    choose(signed_in, word)
    chosen = signed_in.evaluate(BACKGROUND)
    seen = set()
    for place in PLACES:
        if place == "/login/":
            signed_in.context.clear_cookies()
        signed_in.goto(service.address + place)
        seen.add(signed_in.evaluate(BACKGROUND))
        assert signed_in.locator("[data-switch=theme] :checked").get_attribute("value") == word.lower()
    assert seen == {chosen}


def test_theme_is_there_before_the_page_is_drawn(service, signed_in):
    signed_in.goto(service.address)
    choose(signed_in, "Dark")
    signed_in.route("**/js/main*.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    signed_in.goto(f"{service.address}/jobs/")
    assert signed_in.evaluate("document.documentElement.dataset.theme") == "dark"
    signed_in.unroute_all()
    signed_in.reload()
    choose(signed_in, "System")
    assert signed_in.evaluate("document.documentElement.dataset.theme") is None


def test_theme_is_chosen_with_the_keyboard(service, signed_in):
    signed_in.goto(service.address)
    signed_in.locator(".user summary").press("Enter")
    signed_in.locator("[name=theme]:checked").press("ArrowRight")
    assert signed_in.evaluate("document.documentElement.dataset.theme") == "light"


def test_switches_work_though_nothing_is_kept(service, signed_in):
    signed_in.add_init_script(BLOCKED)
    signed_in.goto(service.address)
    choose(signed_in, "Dark")
    choose(signed_in, "Mine")
    assert signed_in.evaluate("document.documentElement.dataset.theme") == "dark"
    assert signed_in.get_by_text("All times as here").is_visible()


@pytest.mark.parametrize(
    ("key", "heading"),
    [*((page.key, page.word) for page in PAGES), ("a", "administration")],
)
def test_g_and_a_letter_go_to_a_page(service, signed_in, key, heading):
    signed_in.goto(f"{service.address}/jobs/" if key != "j" else service.address)
    signed_in.evaluate(PRESS, ["g", key])
    signed_in.get_by_role("heading", level=1, name=heading).wait_for()


def test_slash_searches_and_typing_stays_typing(service, signed_in):
    signed_in.goto(f"{service.address}/jobs/")
    signed_in.keyboard.press("/")
    signed_in.keyboard.type("gi?/")
    assert signed_in.locator("#search").input_value() == "gi?/"
    assert signed_in.url == f"{service.address}/jobs/"
    assert not signed_in.locator("#keys").is_visible()


def test_keys_with_modifiers_are_the_browsers(service, signed_in):
    signed_in.goto(f"{service.address}/jobs/")
    for pressed in ("Control+g", "Alt+g", "Meta+g"):
        signed_in.keyboard.press(pressed)
        signed_in.keyboard.press("o")
    signed_in.keyboard.press("Control+/")
    assert signed_in.url == f"{service.address}/jobs/"
    assert signed_in.evaluate("document.activeElement === document.body")


def test_help_opens_by_key_and_button(service, signed_in):
    signed_in.goto(service.address)
    keys = signed_in.get_by_role("dialog", name="Keys")
    signed_in.keyboard.press("?")
    keys.get_by_text("Instances").wait_for()
    signed_in.keyboard.press("Escape")
    keys.wait_for(state="hidden")
    signed_in.get_by_role("button", name="Keys").click()
    keys.get_by_role("button", name="Close").click()
    keys.wait_for(state="hidden")


def test_keys_can_be_switched_off(service, signed_in):
    signed_in.goto(service.address)
    signed_in.keyboard.press("?")
    signed_in.locator("#keys label", has_text="Off").click()
    signed_in.keyboard.press("Escape")
    signed_in.reload()
    signed_in.keyboard.press("?")
    assert not signed_in.locator("#keys").is_visible()


def test_times_are_said_in_the_chosen_zone(service, signed_in):
    tokyo = signed_in.context.new_cdp_session(signed_in)
    tokyo.send("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Tokyo"})
    job_id = make_job()
    signed_in.goto(f"{service.address}/jobs/{job_id}/")
    fire = signed_in.locator("time[data-clock=wall]").first
    fire.filter(has_text="02:30:00 -0700").wait_for()
    choose(signed_in, "UTC")
    fire.filter(has_text="09:30:00 UTC").wait_for()
    choose(signed_in, "Mine")
    fire.filter(has_text="18:30:00 +0900").wait_for()
    signed_in.reload()
    fire.filter(has_text="18:30:00 +0900").wait_for()
    left = signed_in.locator("[data-region=schedule] time[data-clock=countdown]").first
    assert re.fullmatch(r"\d{4}-\d\d-\d\d 18:30:00 \+0900", left.get_attribute("title"))
    choose(signed_in, "Schedule's")
    fire.filter(has_text="02:30:00 -0700").wait_for()


def test_chosen_zone_outlives_an_update(service, signed_in):
    job_id = make_job()
    signed_in.goto(f"{service.address}/jobs/{job_id}/")
    choose(signed_in, "UTC")
    signed_in.keyboard.press("Escape")
    signed_in.locator("#connection", has_text="live").wait_for()
    actions.change_job(job_id, {"schedule_expression": "05:15"}, actor="bob", now=timezone.now())
    signed_in.locator("time[data-clock=wall]", has_text="12:15:00 UTC").first.wait_for()


def test_message_is_closed_by_its_button(service, signed_in):
    job_id = make_job()
    signed_in.goto(f"{service.address}/jobs/{job_id}/")
    signed_in.get_by_role("button", name="Pause").click()
    message = signed_in.locator(".messages .banner")
    message.get_by_role("button", name="Close this message").click()
    message.wait_for(state="detached")
    assert signed_in.evaluate("document.activeElement.id") == "main"
