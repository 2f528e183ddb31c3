import json
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.live.boards import KEPT_SECONDS, Boards
from dashboard.live.source import Source
from dashboard.topics import UnknownTopicError, parts_of
from jobs import feed
from jobs.models import FeedEpoch, Instance
from tests.dashboard.places import end, make_job, make_node, make_running, make_waiting, tell

pytestmark = pytest.mark.django_db


class Reader:
    """A browser that watches topics of boards whose clock the test moves."""

    def __init__(self, *topics):
        self.boards, self.topics, self.at, self.had = Boards(), topics, 100.0, {}
        self.boards.watch(topics, self.at)
        self.boards.follow(woken=True)

    def later(self, seconds=1.0, *, woken=True, now=None):
        """What changes `seconds` later: region -> part of a frame, over all topics."""
        self.at += seconds
        self.boards.watch(self.topics, self.at)
        self.boards.follow(woken=woken)
        self.boards.read(now or timezone.now(), self.at)
        changed = {}
        for topic in self.topics:
            board = self.boards.board(topic)
            text = board.since(*self.had.get(topic, ("", 0)))
            self.had[topic] = board.id, board.version
            changed |= json.loads(text)["regions"] if text else {}
        return changed


def test_first_read_brings_every_region():
    make_node()
    regions = Reader("site", "overview").later()
    assert {"engine", "totals", "nodes", "running", "waiting", "fires", "failures"} <= regions.keys()


def test_submit_reaches_waiting_and_totals():
    reader = Reader("site", "overview")
    reader.later()
    tell("instance.queued", make_waiting(make_job()), "", "queued")
    changed = reader.later()
    assert len(changed["waiting"]["order"]) == 1
    assert "totals" in changed


def test_finish_leaves_running_and_frees_the_core():
    reader, node = Reader("overview"), make_node()
    instance = make_running(make_job(), node)
    reader.later()
    end(instance)
    changed = reader.later()
    assert changed["running"] == {"order": []}
    assert list(changed[f"cores:{node.pk}"]["rows"]) == ["c0"]


def test_nothing_new_reads_nothing(django_assert_num_queries):
    reader = Reader("job:1")
    reader.later()
    reader.later(woken=False)
    with django_assert_num_queries(1):  # PRAGMA data_version
        assert reader.later(woken=False) == {}


def test_events_within_the_pause_are_read_once():
    reader = Reader("overview")
    reader.later()
    tell("instance.queued", make_waiting(make_job()), "", "queued")
    reader.later(0.05)
    tell("instance.queued", make_waiting(make_job("other")), "", "queued")
    assert len(reader.later(1)["waiting"]["order"]) == 2


def test_instance_is_not_touched_by_another():
    job = make_job()
    mine, other = make_waiting(job, "pending"), make_waiting(job, "pending")
    part = parts_of(f"instance:{mine.pk}")[0]
    reader = Reader("site")
    tell("instance.queued", other, "pending", "queued")
    tell("instance.queued", mine, "pending", "queued")
    assert [part.touched_by(event) for event in reader.boards.follow(woken=True)] == [False, True]


def test_engine_that_went_silent_is_shown_without_event():
    make_node()
    reader = Reader("site")
    reader.later()
    changed = reader.later(6, woken=False, now=timezone.now() + timedelta(minutes=1))
    assert "does not step" in changed["alert"]["rows"]["engine"]


def test_deleted_instance_is_told():
    instance = make_waiting(make_job())
    reader = Reader(f"instance:{instance.pk}")
    reader.later()
    Instance.objects.all().delete()
    tell("job.deleted", instance)
    assert "does not exist" in reader.later()["notice"]["rows"]["gone"]


def test_another_epoch_reads_everything_afresh():
    reader = Reader("overview")
    reader.later()
    FeedEpoch.objects.update(epoch=uuid.uuid4())
    make_waiting(make_job())  # as a restored back-up has it: no event after our position
    assert len(reader.later()["waiting"]["order"]) == 1


def test_board_is_kept_for_who_comes_back():
    reader = Reader("overview")
    reader.later()
    board = reader.boards.board("overview")
    reader.boards.watch([], reader.at + 1)
    tell("instance.queued", make_waiting(make_job()), "", "queued")
    assert set(reader.later(30)) >= {"waiting"}
    assert reader.boards.board("overview") is board


def test_page_that_comes_back_is_not_shown_older_rows():
    """A row deleted a moment ago came back for the pause of its list, on a page that was drawn without it."""
    reader, job = Reader("instances:"), make_job()
    gone, stays = make_waiting(job), make_waiting(job)
    reader.later()
    reader.boards.rest()
    Instance.objects.filter(pk=gone.pk).delete()
    reader.had.clear()
    assert reader.later(0.5)["listed"]["order"] == [f"i{stays.pk}"]


def test_page_that_joins_others_is_not_shown_older_rows():
    """A page drawn after a write was put back, for the pause of its list, to what earlier watchers still saw."""
    source, topic = Source(), "instances:"
    source.read({topic: {("", 0)}}, woken=True, at=100.0)
    board = source.boards.board(topic)
    added = make_waiting(make_job())
    tell("instance.queued", added, "", "queued")
    source.read({topic: {(board.id, board.version), ("", 0)}}, woken=False, at=100.2)
    assert json.loads(board.since("", 0))["regions"]["listed"]["order"] == [f"i{added.pk}"]


def test_pages_that_are_there_wait_for_the_pause():
    source, topic = Source(), "instances:"
    source.read({topic: {("", 0)}}, woken=True, at=100.0)
    board = source.boards.board(topic)
    tell("instance.queued", make_waiting(make_job()), "", "queued")
    source.read({topic: {(board.id, board.version)}}, woken=True, at=100.2)
    assert (board.since(board.id, board.version), board.version) == (None, 1)


def test_board_nobody_wants_is_forgotten():
    reader = Reader("overview")
    reader.boards.watch([], reader.at + KEPT_SECONDS + 1)
    assert reader.boards.board("overview") is None


def test_unchanged_rows_are_not_drawn_again(monkeypatch):
    from dashboard.presentation import rows

    make_waiting(make_job())
    reader = Reader("overview")
    reader.later()
    drawn = []
    real = rows.html_of
    monkeypatch.setattr(rows, "html_of", lambda region, *rest: drawn.append(region) or real(region, *rest))
    tell("instance.queued", make_waiting(make_job("other")), "", "queued")
    reader.later()
    assert drawn.count("waiting") <= 2


@pytest.mark.parametrize(
    "topic", ["", "nothing", "instance", "instance:", "instance:x", "instance:-1", "log", "job:1e3"]
)
def test_unknown_topic_is_refused(topic):
    with pytest.raises(UnknownTopicError, match="is no topic"):
        parts_of(topic)


def test_reads_cost_the_same_with_more_rows():
    node, counts = make_node(cores=40), []
    feed.head()  # its first use makes the epoch
    for batch in range(2):
        for number in range(1 + 10 * batch):
            job = make_job(f"job {batch} {number}")
            make_waiting(job)
            make_running(job, node, (batch * 20 + number,))
            end(make_running(job, node, (39,)), "failed", error="exited with code 1")
        with CaptureQueriesContext(connection) as queries:
            Reader("site", "overview", "jobs:1").later()
        counts.append(len(queries))
    assert counts[0] == counts[1]
