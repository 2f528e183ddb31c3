import asyncio
import json
from unittest.mock import AsyncMock

import pytest
from channels.db import database_sync_to_async as in_thread
from django.db import OperationalError, connection

from dashboard.live.hub import ACK_SECONDS, TICK, TICK_SECONDS
from dashboard.live.logs import LogCursor
from dashboard.live.places import path_of
from dashboard.live.relay import PAUSE_AFTER_ERROR_SECONDS, Relay
from dashboard.live.sampler import Sampler
from dashboard.live.visitors import Visitor
from jobs.telemetry.cores import CoreLoad, CoreTimes
from tests.dashboard.outputs import printed
from tests.dashboard.places import make_job, make_node, make_running, make_waiting, tell
from tests.waiting import DEADLINE_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)
NEW = ("", 0)


class FakeSocket:
    def __init__(self):
        self.frames, self.closed, self.visitor = [], "", Visitor("key", 1)
        self.sent = asyncio.Event()

    async def send_frame(self, text):
        self.frames.append(text)
        self.sent.set()

    async def close_overdue(self):
        self.closed = "overdue"

    async def close_stranger(self):
        self.closed = "stranger"

    def take(self):
        taken, self.frames = [json.loads(frame) for frame in self.frames], []
        return taken


class HandMovedRelay(Relay):
    """Turns only when the test says so, with a clock that the test moves."""

    def __init__(self):
        self.now = 1000.0
        super().__init__(clock=lambda: self.now)

    def _start(self):
        pass

    async def later(self, seconds=0.5):
        self.now += seconds
        self.committed()
        return await self.turn()


@pytest.fixture
async def relay():
    relay = HandMovedRelay()
    yield relay
    await relay._on_thread(lambda: (relay.source.rest(), connection.close()))
    relay._thread.shutdown()


@pytest.fixture
def socket():
    return FakeSocket()


async def test_socket_gets_the_whole_first(relay, socket):
    relay.watch(socket, {"overview": NEW})
    await relay.later()
    [frame] = socket.take()
    assert frame["kind"] == "rows"
    assert "running" in frame["regions"]


async def test_change_reaches_all_sockets_with_one_string(relay, socket):
    other = FakeSocket()
    for each in (socket, other):
        relay.watch(each, {"overview": NEW})
    await relay.later()
    for each in (socket, other):
        relay.answered(each)
        each.take()
    await in_thread(lambda: tell("instance.queued", make_waiting(make_job()), "", "queued"))()
    await relay.later()
    assert len(socket.frames) == 1
    assert socket.frames[0] is other.frames[0]


async def test_unanswered_socket_is_closed_and_comes_back(relay, socket):
    relay.watch(socket, {"overview": NEW})
    await relay.later()
    had = socket.take()[0]
    await in_thread(lambda: tell("instance.queued", make_waiting(make_job()), "", "queued"))()
    await relay.later(ACK_SECONDS)
    assert socket.closed == "overdue"
    back = FakeSocket()
    relay.watch(back, {"overview": (had["board"], had["version"])})
    await relay.later()
    assert list(back.take()[0]["regions"]["waiting"]) == ["order", "rows"]


async def test_database_that_was_away_is_read_by_a_connection_of_its_own(relay, socket, monkeypatch, caplog):
    """Once it had been away, no page was live any more until the service was started anew."""
    relay.watch(socket, {"overview": NEW})
    await relay.later()
    with monkeypatch.context() as patch:
        patch.setattr(relay, "turn", AsyncMock(side_effect=OperationalError("it is away")))
        assert await relay._careful_turn() == PAUSE_AFTER_ERROR_SECONDS
    assert "the database cannot be read, again in a second: it is away" in caplog.text
    assert await relay._on_thread(lambda: connection.connection) is None


async def test_quiet_page_hears_a_tick(relay, socket):
    relay.watch(socket, {"job:1": NEW})
    await relay.later()
    relay.answered(socket)
    socket.frames.clear()
    await relay.later(TICK_SECONDS)
    assert socket.frames == [TICK]


async def test_log_reaches_the_page_with_its_attempt(relay, socket, settings):
    instance = await in_thread(lambda: make_running(make_job(), make_node()))()
    path = path_of(instance.pk, 1, instance.token)
    printed(path, b"hello\n")
    relay.watch(socket, {f"log:{instance.pk}": LogCursor()})
    await relay.later()
    [frame] = socket.take()
    assert (frame["kind"], frame["attempt"], frame["text"]) == ("log", 1, "hello\n")


async def test_attempt_that_starts_later_is_found(relay, socket):
    job, node = await in_thread(lambda: (make_job(), make_node()))()
    waiting = await in_thread(make_waiting)(job)
    relay.watch(socket, {f"log:{waiting.pk}": LogCursor()})
    await relay.later()
    assert socket.take() == []

    def start():
        from jobs.models import Attempt

        token = "begun0000"
        Attempt.objects.create(
            instance=waiting, number=1, token=token, node=node, status="starting", created_at=job.created_at
        )
        tell("instance.started", waiting, "queued", "running")
        return path_of(waiting.pk, 1, token)

    printed(await in_thread(start)(), b"first line\n")
    await relay.later()
    assert socket.take()[0]["text"] == "first line\n"


async def test_load_is_sampled_only_while_watched(relay, socket, monkeypatch):
    readings = iter([{0: CoreTimes(0, 0)}, {0: CoreTimes(1, 2)}])
    monkeypatch.setattr("dashboard.live.source.Sampler", lambda: Sampler(CoreLoad(lambda: next(readings))))
    relay.watch(socket, {"load": 0})
    await relay.later()
    assert socket.take() == []
    await relay.later(1)
    assert socket.take()[0]["cores"] == {"0": [0.5, "busy"]}
    relay.leave(socket)
    await relay.later(1)  # a third reading would raise


async def test_visitor_who_left_is_closed(relay, socket):
    relay.watch(socket, {"overview": NEW})
    await relay.later(31)
    assert socket.closed == "stranger"
    assert len(relay.hub) == 0


async def test_no_socket_no_next_turn(relay):
    assert await relay.turn() is None


async def test_failing_reader_is_tried_again_and_says_nothing(relay, socket, monkeypatch, caplog):
    relay.watch(socket, {"overview": NEW})
    with monkeypatch.context() as broken:
        broken.setattr(relay.source.boards, "read", lambda *_: 1 / 0)
        assert await relay._careful_turn() == 1.0
        relay.now += TICK_SECONDS
        await relay._careful_turn()
    assert "cannot be read" in caplog.text
    assert socket.frames == []
    await relay.later(1)
    assert socket.take()[0]["topic"] == "overview"


async def test_relay_wakes_by_a_commit_of_this_process(socket):
    relay = Relay()
    relay.watch(socket, {"overview": NEW})
    async with asyncio.timeout(DEADLINE_SECONDS):
        await socket.sent.wait()
        socket.sent.clear()
        relay.answered(socket)
        await in_thread(lambda: tell("instance.queued", make_waiting(make_job()), "", "queued"))()
        await socket.sent.wait()
        relay.leave(socket)
        relay.committed()
        await relay._task
    relay._thread.shutdown()
