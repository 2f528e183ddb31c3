import asyncio
import json

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import AnonymousUser

from dashboard.consumers import NOT_LOGGED_IN, UNREADABLE, LiveConsumer, Pace
from dashboard.live.relay import relay
from tests.waiting import DEADLINE_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)


class Session:
    session_key = "key"


class Ann:
    pk = 1
    is_authenticated = True


async def opened(user):
    socket = WebsocketCommunicator(LiveConsumer.as_asgi(), "/ws/live")
    socket.scope |= {"user": user, "session": Session()}
    assert (await socket.connect(DEADLINE_SECONDS))[0]
    return socket


@pytest.fixture
async def socket():
    socket = await opened(Ann())
    yield socket
    await socket.disconnect(timeout=DEADLINE_SECONDS)
    hub = relay()
    hub.committed()
    if hub._task:
        async with asyncio.timeout(DEADLINE_SECONDS):
            await hub._task
    hub._thread.shutdown()


async def test_stranger_is_told_to_sign_in():
    socket = await opened(AnonymousUser())
    assert await socket.receive_output(DEADLINE_SECONDS) == {"type": "websocket.close", "code": NOT_LOGGED_IN}


async def test_watched_topic_is_sent_and_acknowledged(socket):
    await socket.send_json_to({"watch": {"overview": {"board": "", "version": 0}}})
    assert (await socket.receive_json_from(DEADLINE_SECONDS))["topic"] == "overview"
    await socket.send_json_to({"ack": True})
    assert (await socket.receive_json_from(DEADLINE_SECONDS))["kind"] == "tick"


@pytest.mark.parametrize(
    "message",
    [
        "not json",
        "[]",
        '{"watch": []}',
        '{"watch": {"nothing": {}}}',
        '{"watch": {"log:x": {}}}',
        '{"watch": {"log:1": {"offset": -1}}}',
        '{"watch": {"log:1": {"offset": "1"}}}',
        '{"watch": {"overview": {"version": 1e400}}}',
        json.dumps({"watch": {f"job:{n}": {} for n in range(9)}}),
        json.dumps({"ack": "x" * 5000}),
        "[" * 4000,
        '{"watch": {"jobs:\\ud800": {}}}',
        '{"watch": {"schedules:a\\u0000": {}}}',
    ],
)
async def test_message_of_no_page_closes_the_socket(socket, message):
    await socket.send_to(text_data=message)
    assert (await socket.receive_output(DEADLINE_SECONDS))["code"] == UNREADABLE


async def test_bytes_close_the_socket(socket):
    await socket.send_to(bytes_data=b"\x00")
    assert (await socket.receive_output(DEADLINE_SECONDS))["code"] == UNREADABLE


def test_pace_counts_each_second_anew():
    pace = Pace(2)
    assert [pace.keeps(1.1), pace.keeps(1.5), pace.keeps(1.9), pace.keeps(2.0)] == [True, True, False, True]
