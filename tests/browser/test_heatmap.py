"""The core heatmap and the pages of nodes in a browser."""

import pytest
from django.utils import timezone

from jobs.models import Job, Node
from tests.dashboard.places import abandon, come_back, make_job, make_running
from tests.waiting import until

SLEEP = "import time; time.sleep(600)"
STRIPS = "[...document.querySelectorAll('.cell [data-past]')].map(path => path.getAttribute('d'))"
# The page's own module: by its name without a hash it would be another one.
LOADS = """const loads = performance.getEntriesByType("resource").find(({ name }) => name.includes("/js/loads."));
    const { takeLoads } = await import(loads.name);"""
TAKE = f"""async frame => {{
    {LOADS}
    takeLoads(frame);
    return document.querySelector(".cell[data-core='1']").innerText;
}}"""

# All at once: what comes by the socket meanwhile is another story.
TAKEN = f"""async frames => {{
    {LOADS}
    frames.forEach(takeLoads);
    return document.querySelector('.cell [data-past]').getAttribute('d');
}}"""


def connected(page, word="live"):
    page.locator("#connection", has_text=word).wait_for()


@pytest.fixture
def overview(service, signed_in):
    signed_in.goto(service.address)
    connected(signed_in)
    return signed_in


@pytest.fixture
def more_nodes():
    """Rows of nodes that run nowhere, gone after the test."""
    made = []

    def make(count, cores):
        now = timezone.now()
        for number in range(count):
            node = Node(name=f"a-rather-long-name-{number:02}.example", cores=list(range(cores)), heartbeat_at=now)
            node.save()
            made.append(node.pk)

    yield make
    Node.objects.filter(pk__in=made).delete()


def test_strip_is_drawn_with_the_page(service, signed_in):
    signed_in.route_web_socket("**/ws/live", lambda socket: socket.close())
    signed_in.goto(service.address)

    def drawn():
        signed_in.reload()
        return signed_in.evaluate(STRIPS)[0]

    assert until(drawn).startswith("M")


def test_strips_agree_again_after_a_cut(overview):
    """Who missed steps gets all of them with its next socket, and draws what one draws that knew nothing before."""
    node = overview.locator(".cell").first.get_attribute("data-node")

    def frame(last, steps):
        past = {"step_seconds": 5, "last": last, "cores": {"0": steps}}
        return {"node": node, "cores": {"0": [0.3, "busy"]}, "memory": [1, 2], "past": past}

    whole = frame(10**9 + 30, [step % 90 for step in range(60)])
    missed = [frame(10**9, [7] * 60), frame(10**9 + 2, [8, 9, 10, 11]), frame(10**9 + 9, [12, 13, None, 14])]
    drawn = overview.evaluate(TAKEN, [*missed, whole])
    overview.reload()
    assert drawn == overview.evaluate(TAKEN, [whole])
    assert drawn.startswith("M0 100V100L0.5 100L1.5 99L")


def test_gap_in_the_past_is_a_gap_in_the_strip(overview):
    node = overview.locator(".cell").first.get_attribute("data-node")
    past = {"step_seconds": 5, "last": 10**9, "cores": {"0": [50, None, 20, 30]}}
    drawn = overview.evaluate(TAKEN, [{"node": node, "cores": {"0": [0.3, "busy"]}, "memory": [1, 2], "past": past}])
    assert drawn.endswith("M56 100V50L56.5 50L57 50V100ZM58 100V80L58.5 80L59.5 70L60 70V100Z")


def test_busy_core_that_nobody_reserved_warns(overview):
    cell = overview.locator(".cell[data-core='1']")
    node = cell.get_attribute("data-node")
    shown = overview.evaluate(TAKE, {"node": node, "cores": {"1": [0.9, "busy"]}, "memory": [1, 2]})
    assert "foreign load" in shown
    cell.hover()
    tip = overview.get_by_role("tooltip")
    tip.wait_for()


def test_hover_tells_who_since_when_and_what_is_used(service, overview):
    number = service.submit(SLEEP, "sleeper", cpu_cores_required=2)
    overview.locator(".cell[data-reserved]", has_text="sleeper").first.hover()
    tip = overview.get_by_role("tooltip")
    for said in (f"sleeper #{number}", "Since", "Asked2 cores", "Holdscores 0\N{EN DASH}1", "cores, measured on"):
        tip.filter(has_text=said).wait_for()
    overview.keyboard.press("Escape")
    tip.wait_for(state="hidden")


def test_keyboard_focus_tells_the_same_and_opens(service, overview):
    number = service.submit(SLEEP, "sleeper")
    cell = overview.locator(".cell[data-reserved]", has_text="sleeper").first
    cell.wait_for()
    overview.locator(".button.primary").focus()
    until(lambda: overview.keyboard.press("Tab") or cell.locator("a:focus").count())
    tip = overview.get_by_role("tooltip")
    tip.get_by_text(f"sleeper #{number}").wait_for()
    assert cell.locator("a").get_attribute("aria-describedby") == "celltip"
    overview.keyboard.press("Enter")
    overview.wait_for_url(f"**/instances/{number}/")


def test_tip_stays_where_the_focus_scrolls_to(service, overview):
    """It was gone at once: the browser scrolls to what gets the focus, and who scrolled was taken to have left."""
    number = service.submit(SLEEP, "sleeper")
    cell = overview.locator(".cell[data-reserved]", has_text="sleeper").first
    cell.wait_for()
    overview.set_viewport_size({"width": 1280, "height": 200})
    overview.locator(".button.primary").focus()
    until(lambda: overview.keyboard.press("Tab") or cell.locator("a:focus").count())
    assert overview.evaluate("scrollY") > 0
    overview.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    overview.get_by_role("tooltip").get_by_text(f"sleeper #{number}").wait_for()


def test_tip_goes_with_the_owner_of_its_cell(service, overview):
    number = service.submit(SLEEP, "sleeper")
    cell = overview.locator(".cell[data-reserved]", has_text="sleeper").first
    cell.hover()
    tip = overview.get_by_role("tooltip")
    tip.get_by_text("sleeper").wait_for()
    service.cancel(number)
    tip.get_by_text("sleeper").wait_for(state="hidden")


@pytest.fixture
def deaf(service, more_nodes):
    """A run on the first core of a node that runs nowhere, to be abandoned there."""
    more_nodes(1, 2)
    node = Node.objects.exclude(name="atlas").get()
    yield make_running(make_job("deaf"), node)
    Job.objects.filter(name="deaf").delete()


@pytest.mark.parametrize("device", ["signed_in", "phone"])
def test_core_of_an_abandoned_thread_is_marked_until_it_returns(request, service, deaf, device):
    page = request.getfixturevalue(device)
    page.goto(service.address)
    connected(page)
    cell = page.locator(f".cell[data-instance='{deaf.pk}']")
    cell.get_by_text("reserved", exact=True).wait_for()
    abandon(deaf)
    cell.get_by_text("abandoned", exact=True).wait_for()
    row = page.locator(".row.running", has_text="its thread has not returned")
    row.wait_for()
    assert row.get_by_role("button").count() == 0
    page.reload()
    cell.get_by_text("abandoned", exact=True).wait_for()
    connected(page)
    come_back(deaf)
    cell.wait_for(state="detached")


def test_hover_tells_of_an_abandoned_thread(service, signed_in, deaf):
    abandon(deaf)
    signed_in.goto(service.address)
    signed_in.locator(f".cell[data-instance='{deaf.pk}']").hover()
    signed_in.get_by_role("tooltip").filter(has_text=f"deaf #{deaf.pk}, an abandoned threadAbandoned for").wait_for()


@pytest.mark.parametrize(("count", "cores"), [(1, 64), (30, 8)])
@pytest.mark.parametrize("device", ["signed_in", "phone"])
def test_many_cores_and_nodes_fit_on_the_page(request, service, more_nodes, device, count, cores):
    page = request.getfixturevalue(device)
    more_nodes(count, cores)
    page.goto(service.address)
    cells = page.locator("li[data-core]")
    cells.nth(cores - 1).wait_for()
    width = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width[0] <= width[1]
    boxes = [cells.nth(place).bounding_box() for place in (0, 3, cores - 1)]
    assert all(box["width"] >= 24 and box["height"] >= 24 for box in boxes)


def test_drained_node_starts_nothing_until_undrained(service, signed_in):
    page, node = signed_in, Node.objects.get(name="atlas")
    page.goto(f"{service.address}/nodes/{node.pk}/")
    connected(page)
    page.get_by_role("button", name="Drain", exact=True).click()
    page.get_by_text("Drained by admin").wait_for()
    number = service.submit(SLEEP, "patient")
    page.goto(service.address)
    page.locator("#waiting").get_by_text("Node atlas was drained by admin").wait_for()
    page.locator("#troubles").get_by_text("Starts nothing new, as admin wished").wait_for()
    page.goto(f"{service.address}/nodes/")
    page.get_by_role("button", name="Undrain").click()
    service.until(number, "running")
