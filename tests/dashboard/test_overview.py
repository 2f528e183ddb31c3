"""What the overview says beyond states: time left, quiet troubles, last lines, many nodes, the engine's health."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.live.places import path_of
from dashboard.presentation.beat import fires_late, read_beat, starts_late
from dashboard.presentation.failures import read_failures
from dashboard.presentation.nodes import MOST_NODES, read_nodes
from dashboard.presentation.pulse import read_pulse
from dashboard.presentation.troubles import MOST_SHOWN, read_troubles
from jobs.models import Attempt, Event, Instance
from jobs.trials import description_of
from tests.dashboard.outputs import printed
from tests.dashboard.places import NAUGHTY, end, make_job, make_node, make_running, make_waiting
from tests.dashboard.test_pages import html, schedule, text

pytestmark = pytest.mark.django_db


def ago(**duration):
    return timezone.now() - timedelta(**duration)


def troubles():
    return [(row.look.word, row.name) for _, row in read_troubles(timezone.now())["troubles"]]


def test_running_row_says_time_left(visitor):
    make_running(make_job(usual_seconds=120.0), make_node(), now=ago(seconds=60))
    assert re.search(r"(5[0-9] s|1 min) left", text(visitor))


def test_running_row_without_a_core_is_on_its_node(visitor):
    make_running(make_job(execution_model="thread", kind="callable", cores=0), make_node(), ())
    said = text(visitor)
    assert " on atlas" in said
    assert " of atlas" not in said


def test_overdue_run_says_by_how_much(visitor):
    make_running(make_job(usual_seconds=10.0), make_node(), now=ago(minutes=5, seconds=10))
    assert "5 min over" in text(visitor)


def test_nothing_wrong_is_no_trouble(visitor):
    schedule(make_job("a"), next_at=timezone.now() + timedelta(hours=1))
    make_running(make_job("b", usual_seconds=600.0), make_node(), now=ago(minutes=15))
    make_running(make_job("c"), make_node("bora"), now=ago(days=3))
    assert troubles() == []


def test_schedule_with_a_fault_is_trouble(visitor):
    schedule(make_job("broken"), fault=NAUGHTY)
    assert troubles() == [("set aside", "broken")]
    assert "&lt;img" in html(visitor)


@pytest.mark.parametrize(
    ("change", "word", "said"),
    [
        (
            {"set_by_seconds": -7200.0, "reanchored": 3},
            "clock set",
            "Its clock went back by 2 h; 3 schedules begin anew",
        ),
        ({"set_by_seconds": 60.0}, "clock set", "Its clock went forward by 1 min"),
        ({"reanchored": 1}, "clock set", "Its clock was set back while nothing ran; 1 schedule begins anew"),
        ({"suspended_seconds": 3600.0, "set_by_seconds": 0.2}, "was asleep", "The machine slept for 1 h"),
    ],
)
def test_clock_that_was_set_is_told_for_a_day(visitor, change, word, said):
    data = {"node": make_node().pk, "set_by_seconds": 0.0, "suspended_seconds": 0.0, "reanchored": 0} | change
    Event.objects.create(at=ago(hours=25), kind="clock.changed", data=data)
    assert troubles() == []
    Event.objects.create(at=ago(hours=23), kind="clock.changed", data=data)
    ((_, told),) = read_troubles(timezone.now())["troubles"]
    assert (told.look.word, told.sentence, told.page) == (word, said, "node")
    assert said in text(visitor)


def test_fire_that_did_not_come_is_trouble():
    schedule(make_job("late"), next_at=ago(minutes=2))
    schedule(make_job("just now"), next_at=ago(seconds=3))
    schedule(make_job("paused", paused_at=timezone.now()), next_at=ago(minutes=2))
    assert troubles() == [("did not fire", "late")]


def test_run_of_twice_its_usual_time_is_trouble():
    node = make_node()
    make_running(make_job("slow", usual_seconds=60.0), node, now=ago(seconds=130))
    make_running(make_job("short", usual_seconds=1.0), node, now=ago(seconds=5))
    assert troubles() == [("slower than usual", "slow")]


def test_skips_in_a_row_are_trouble():
    schedule(make_job("often"), skipped_in_a_row=3)
    schedule(make_job("once"), skipped_in_a_row=1)
    schedule(make_job("paused", paused_at=timezone.now()), skipped_in_a_row=9)
    assert troubles() == [("skipped 3 times in a row", "often")]


def test_draining_node_is_said_with_who_wished_it(visitor):
    make_node(drained_at=ago(hours=1), drained_by="bob")
    assert troubles() == [("draining", "atlas")]
    assert "Starts nothing new, as bob wished" in text(visitor)


def test_troubles_stop_at_eight_and_lead_on(visitor):
    for number in range(MOST_SHOWN + 3):
        schedule(make_job(f"job {number}"), skipped_in_a_row=3)
    shown = html(visitor)
    assert shown.count('class="row trouble"') == MOST_SHOWN
    assert "and 3 more" in text(visitor)
    assert 'href="/jobs/?q=is%3Atrouble"' in shown


def test_failure_shows_the_last_line_that_it_printed(visitor):
    instance = end(make_running(make_job(), make_node()), "failed", error="exited with code 1")
    attempt = instance.attempts.get()
    printed(path_of(instance.pk, 1, attempt.token), b"begun\n\x1b[31mKeyError: <b>\x1b[0m\n\n")
    ((_, row),) = read_failures(timezone.now())["failures"]
    assert row.last_line == "KeyError: <b>"
    assert "KeyError: &lt;b&gt;" in html(visitor)


def test_failure_that_printed_nothing_shows_no_line(visitor):
    end(make_running(make_job(), make_node()), "failed", error="exited with code 1")
    assert "last-line" not in html(visitor)


@pytest.mark.parametrize("name", ["running", "waiting", "failures"])
def test_what_is_not_shown_has_a_link(visitor, name):
    node = make_node(cores=40)
    for number in range(14):
        job = make_job(f"job {number}")
        make_running(job, node, (number,))
        end(make_running(job, node, (20 + number,)), "failed")
        Instance.objects.create(
            job=job, status="queued", logical_at=ago(), due_at=ago(), created_at=ago(), queued_at=ago(),
            order_key=number, generation=number, cause="submit",
        )  # fmt: skip
    links = {
        "running": 'href="/instances/?status=running">and 2 more running',
        "waiting": 'href="/instances/?status=pending&amp;status=queued&amp;status=retrying">and 2 more waiting',
        "failures": 'href="/instances/?status=failed&amp;status=timeout&amp;within=24h">and 4 more jobs with failures',
    }
    assert links[name] in html(visitor)


def test_many_nodes_are_drawn_small(visitor):
    nodes = [make_node(f"node {number:02}") for number in range(MOST_NODES + 2)]
    make_running(make_job("merge"), nodes[0], cores=(2,))
    regions = read_nodes(timezone.now())
    assert len(regions["nodes"]) == MOST_NODES
    assert not [name for name in regions if name.startswith(("cores", "virtual", "coretable"))]
    shown = html(visitor)
    assert shown.count('class="node-small"') == MOST_NODES
    assert 'aria-label="Core 2: merge, instance' in shown
    assert "and 2 more nodes" in text(visitor)


def test_node_that_is_away_shows_no_cells(visitor):
    make_node(stopped_at=ago(hours=1))
    assert "data-away" in html(visitor)
    make_running(make_job(), make_node("bora", stopped_at=ago(hours=1)))
    assert html(visitor).count("data-away") == 1


def test_cell_tells_what_its_owner_asked_and_holds(visitor):
    make_running(make_job("merge"), make_node(), cores=(1, 3), virtual=1)
    shown = html(visitor)
    assert 'data-asked="3" data-held="cores 1, 3 + 1 virtual slot" data-cores="1 3"' in shown


def test_page_is_drawn_with_the_load_of_before(visitor):
    assert 'data-first-load="{&quot;kind&quot;:&quot;load&quot;' in html(visitor)


def test_beat_is_that_of_who_was_seen_longest_ago():
    make_node("atlas", heartbeat_at=ago(seconds=3))
    old = make_node("bora", heartbeat_at=ago(seconds=9))
    make_node("gone", heartbeat_at=ago(seconds=90))
    ((_, beat),) = read_beat(timezone.now())["beat"]
    assert (beat.seen_at, beat.late) == (old.heartbeat_at, "")


def test_no_engine_has_no_beat():
    make_node(heartbeat_at=ago(minutes=5))
    assert read_beat(timezone.now())["beat"] == []


def test_lateness_is_the_median_of_recent_fires():
    job, node = make_job(), make_node()
    for seconds in (0.2, 0.3, 50):
        instance = make_running(job, node)
        made = timezone.now()
        fields = {"cause": "schedule", "due_at": made - timedelta(seconds=seconds), "created_at": made}
        Instance.objects.filter(pk=instance.pk).update(**fields)
    assert fires_late(timezone.now()) == 0.3
    assert fires_late(timezone.now() + timedelta(hours=2)) is None


def test_lateness_of_starts_is_by_node():
    job, node = make_job(), make_node()
    instance = make_running(job, node)
    Attempt.objects.filter(instance=instance).update(started_at=instance.started_at + timedelta(seconds=0.25))
    assert starts_late() == {node.pk: 0.2}


def test_failures_in_a_row_are_trouble():
    make_job("broken", failures_in_a_row=10)
    make_job("once", failures_in_a_row=1)
    make_job("known", failures_in_a_row=9, paused_at=timezone.now(), paused_by="bob")
    assert troubles() == [("failed 10 times in a row", "broken")]


def test_failed_test_alarms_nobody(visitor):
    trial = make_job("x (test)", description=description_of("x"), tags=["test"], failures_in_a_row=3)
    end(make_running(trial, make_node()), "failed")
    assert troubles() == []
    assert read_failures(timezone.now())["failures"] == []
    assert not read_pulse(timezone.now())["totals"][0][1].failed


def test_own_tag_test_hides_no_failure():
    end(make_running(make_job("x (test)", tags=["test"]), make_node()), "failed")
    assert read_pulse(timezone.now())["totals"][0][1].failed.number == 1


def test_skip_behind_one_that_waits_says_why_that_waits(visitor):
    make_running(make_job("big"), make_node(cores=1, overcommit=1.0))
    job = make_job("often", cores=1)
    schedule(job, skipped_in_a_row=3)
    waiting = make_waiting(job)
    said = f"its instance #{waiting.pk} before was still waiting: needs 1 core, none is free"
    assert said in read_troubles(timezone.now())["troubles"][0][1].sentence.replace("Its", "its")
    assert said in html(visitor, f"/jobs/{job.pk}/")
    assert said[1:] in html(visitor, "/schedules/")


def test_skip_behind_one_that_runs_says_it_was_busy(visitor):
    job = make_job("often")
    schedule(job, skipped_in_a_row=3)
    make_running(job, make_node())
    assert "it was still busy when its next fire came" in html(visitor, f"/jobs/{job.pk}/")


def test_virtual_slot_kept_for_a_big_one_says_so(visitor):
    big = make_waiting(make_job(cores=6))
    make_running(make_job("small"), make_node(kept_for=big.pk))
    cells = re.findall(r'class="cell virtual".*?</li>', html(visitor))
    assert len(cells) == 2
    assert all(f'kept for <span class="id">#{big.pk}</span>' in cell for cell in cells)


def test_drained_node_claims_no_free_cores(visitor):
    make_node(drained_at=ago(hours=1), drained_by="bob")
    make_waiting(make_job())
    assert "All cores are free" not in html(visitor)
    assert "was drained by bob and starts nothing until it is undrained" in text(visitor)
