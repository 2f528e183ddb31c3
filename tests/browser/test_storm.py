"""A hundred transitions a second while somebody uses the page: nothing closes, moves, or is lost."""

import subprocess
from collections.abc import Iterator

import pytest

from jobs.models import Instance
from tests.browser.conftest import PHONE, Service, at_home, serving, signed_in_at
from tests.fixtures.chromium import opened
from tests.waiting import until

MOVES = 100
AWAY = (5, 5)

# Looks at each frame that is drawn whether what the reader has in hand is as it was. The hand is never quite still: a
# mouse that rests for 15 s lets a list go on, and a storm on a busy machine may take longer.
WATCH = """({hovered, focused, opened, ticked, selects}) => {
    const one = selector => selector && document.querySelector(selector);
    const [row, control, menu, box] = [hovered, focused, opened, ticked].map(one);
    const top = row?.getBoundingClientRect().top, selected = String(getSelection());
    const seen = window.seen = {frames: 0, faults: new Set()};
    const stir = () => {
        if (window.seen !== seen) return;
        if (row) {
            const {x, y, width, height} = row.getBoundingClientRect();
            const there = {clientX: x + width / 2, clientY: y + height / 2};
            row.dispatchEvent(new PointerEvent("pointermove", {bubbles: true, pointerType: "mouse", ...there}));
        } else dispatchEvent(new KeyboardEvent("keydown", {key: "Shift"}));
        setTimeout(stir, 2000);
    };
    stir();
    const look = () => {
        if (window.seen !== seen) return;
        seen.frames += 1;
        const fault = (is, word) => is && seen.faults.add(word);
        fault(row && Math.abs(row.getBoundingClientRect().top - top) > 1, "the row has moved");
        fault(row && !row.matches(":hover"), "another row is under the pointer");
        fault(control && document.activeElement !== control, "the focus is lost");
        fault(menu && !menu.open, "the menu has closed");
        fault(box && !(box.isConnected && box.checked), "the tick is lost");
        fault(selects && (!selected || String(getSelection()) !== selected), "the selection is lost");
        requestAnimationFrame(look);
    };
    look();
}"""
SEEN = "() => { const {faults} = window.seen; window.seen = null; return [...faults]; }"

SELECT = """selector => {
    const link = document.querySelector(selector);
    getSelection().selectAllChildren(link);
}"""

# Rows and texts of all regions, here and in the page as the server draws it now. Times tick, so they are left out.
DIFFERENCES = """async () => {
    const shown = page => Object.fromEntries([...page.querySelectorAll("[data-region]")].map(region =>
        [region.dataset.region, [...region.children].map(row => {
            const copy = row.cloneNode(true);
            for (const part of copy.querySelectorAll("time, [data-load], [data-region], script")) part.remove();
            return `${row.dataset.key} ${copy.textContent.replace(/\\s+/g, " ").trim()}`;
        })]));
    const answer = await fetch(location);
    const [wanted, found] = [new DOMParser().parseFromString(await answer.text(), "text/html"), document].map(shown);
    return Object.keys(wanted).filter(name => String(wanted[name]) !== String(found[name]))
        .map(name => ({name, wanted: wanted[name], found: found[name]}));
}"""

# Both at once: of the next moment, the next page would begin elsewhere.
LISTED = """() => [[...document.querySelectorAll("[data-region=listed] > [data-key]")].map(row => row.dataset.key),
    document.querySelector(".pager a[rel=next]")?.href]"""


class Stormy:
    """The pages of a service in whose process instances move."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def begin(self, moves: int = MOVES) -> None:
        self.service.process.stdin.write(f"{moves}\n".encode())
        self.service.process.stdin.flush()

    def spent(self) -> float:
        """Seconds that the storm took, when it has ended."""
        return float(self.service.process.stdout.readline())

    def open(self, page, path):
        page.goto(f"{self.service.address}{path}")
        page.locator("#connection", has_text="live").wait_for()


@pytest.fixture(scope="module")
def stormy(browser, blank, tmp_path_factory: pytest.TempPathFactory, django_db_blocker) -> Iterator[Stormy]:
    command, folder = ["-m", "tests.browser.storming"], tmp_path_factory.mktemp("storm")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with serving(command, blank, folder, **pipes) as service, at_home(service, django_db_blocker):
        yield Stormy(service)


@pytest.fixture
def desk(stormy, page):
    page.set_viewport_size({"width": 1280, "height": 800})
    with signed_in_at(stormy.service, page):
        yield page


@pytest.fixture
def phone(stormy, browser):
    with opened(browser, **PHONE) as page, signed_in_at(stormy.service, page):
        yield page


def watch(page, **what):
    page.evaluate(WATCH, {"hovered": None, "focused": None, "opened": None, "ticked": None, "selects": False} | what)


def unharmed(page, storm):
    """That all that was watched is as it was when the storm is over."""
    storm.spent()
    page.wait_for_function("() => window.seen.frames > 10")  # a busy machine may draw fewer in a storm
    assert page.evaluate(SEEN) == []


def converges(page):
    """It shows what a page that is opened now shows."""
    page.mouse.move(*AWAY)
    page.evaluate("document.activeElement.blur()")
    until(lambda: page.evaluate(DIFFERENCES) == [] or None)


def key_of(page, selector, place):
    """A selector of the row that is at this place now."""
    return f"{selector} [data-key='{page.locator(f'{selector} > [data-key]').nth(place).get_attribute('data-key')}']"


def rows_below(page, selector):
    """That there are enough of them to be above and below of one."""
    page.locator(f"{selector} > [data-key]").nth(5).wait_for()


def leaves_alone_what_is_held(stormy, page, rows):
    """An open menu with the focus on it, a row under the pointer, selected text and, where there is one, a tick."""
    row, picks = key_of(page, rows, 3), page.locator("[data-pick]").count()
    ticked = f"{key_of(page, rows, 4)} [data-pick]" if picks else None
    if ticked:
        page.check(ticked)
    page.locator("details.user summary").click()
    page.hover(row)
    page.evaluate(SELECT, f"{key_of(page, rows, 2)} .row-title bdi")
    watch(page, hovered=row, focused="details.user summary", opened="details.user", ticked=ticked, selects=True)
    stormy.begin()
    unharmed(page, stormy)
    page.keyboard.press("Escape")
    page.evaluate("getSelection().empty()")
    if ticked:
        page.uncheck(ticked)
    converges(page)


def takes_every_keystroke(stormy, page, rows):
    row, text = key_of(page, rows, 3), "every keystroke of it"
    page.locator("main details.plain > summary").first.click()
    page.locator("input[type=search]").focus()
    page.hover(row)
    watch(page, hovered=row, focused="input[type=search]", opened="main details.plain")
    stormy.begin()
    page.keyboard.type(text, delay=60)
    unharmed(page, stormy)
    assert page.input_value("input[type=search]") == text
    converges(page)


def keeps_the_focus_in_a_row(stormy, page, rows):
    control = f"{key_of(page, rows, 2)} :is(button, a)"
    page.keyboard.press("Tab")
    page.locator(control).first.focus()
    watch(page, focused=control)
    stormy.begin()
    unharmed(page, stormy)
    converges(page)


@pytest.mark.parametrize(
    ("path", "rows"),
    [("/", "#waiting ul"), ("/jobs/?sort=-last", "[data-region=jobs]"), ("/instances/", "[data-region=listed]")],
)
def test_nothing_closes_moves_or_is_lost(stormy, desk, path, rows):
    stormy.open(desk, path)
    rows_below(desk, rows)
    leaves_alone_what_is_held(stormy, desk, rows)
    if desk.locator("input[type=search]").count():
        # High enough for the field and the rows at once: a browser scrolls back to a field that is typed in.
        desk.set_viewport_size({"width": 1280, "height": 1300})
        takes_every_keystroke(stormy, desk, rows)
    keeps_the_focus_in_a_row(stormy, desk, rows)


def test_ticked_row_stays_on_a_phone(stormy, phone):
    rows = "[data-region=listed]"
    stormy.open(phone, "/instances/")
    rows_below(phone, rows)
    ticked = f"{key_of(phone, rows, 4)} [data-pick]"
    phone.locator("details.user summary").tap()
    phone.locator(ticked).evaluate("box => box.scrollIntoView({block: 'center'})")
    phone.locator(ticked).tap()
    watch(phone, ticked=ticked)
    stormy.begin()
    unharmed(phone, stormy)
    phone.locator(ticked).uncheck()
    converges(phone)


def test_pages_of_the_list_are_whole_while_runs_end(stormy, desk):
    ended = Instance.objects.filter(status__in=("success", "failed"))
    before, seen = set(ended.values_list("pk", flat=True)), []
    stormy.open(desk, "/instances/?status=success&status=failed")
    stormy.begin()
    for _ in range(50):
        keys, older = desk.evaluate(LISTED)
        seen += [int(key.removeprefix("i")) for key in keys]
        if not older:
            break
        desk.goto(older)
        desk.locator("#connection", has_text="live").wait_for()
    stormy.spent()
    assert len(seen) == len(set(seen))
    assert before <= set(seen)
