"""The socket of one page: reads what the browser wishes, sends what the relay hands out."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Any

from autobahn.exception import Disconnected
from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer

from dashboard.live.hub import Cursor
from dashboard.live.logs import LogCursor
from dashboard.live.relay import relay
from dashboard.live.visitors import Visitor
from dashboard.topics import LOAD, UnknownTopicError, is_log, number_in, parts_of
from jobs.core.texts import fault_of

# Close codes; the page comes back after all of them but the first and the last.
NOT_LOGGED_IN, OVERDUE, STRANGER, UNREADABLE = 4401, 4408, 4403, 4400
MOST_TOPICS = 8
LONGEST_MESSAGE = 4096
LARGEST_OFFSET = 2**53


# A page answers ten frames a second. One that says more than this is none of ours, and what Daphne queues of it, it
# queues without bound.
MOST_MESSAGES_PER_SECOND = 100


class NoSuchAddress(AsyncWebsocketConsumer):
    """Every other address of a socket: closed, instead of an error with its traceback in the log."""

    channel_layer_alias = ""

    async def connect(self) -> None:
        await self.close()


class Pace:
    """How much one socket says: whether it stays within so many messages in each second."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._second, self._count = 0, 0

    def keeps(self, now: float) -> bool:
        """Count one message at `now`, in seconds of any clock."""
        if int(now) != self._second:
            self._second, self._count = int(now), 0
        self._count += 1
        return self._count <= self._most


class UnreadableError(ValueError):
    """A message that no page of ours sends."""


class LiveConsumer(AsyncWebsocketConsumer):
    """Messages of the browser: {"watch": {topic: cursor, ...}} and {"ack": true}; docs/live-updates.md has the rest."""

    # No layer at all: what a page sees must not depend on one, and each would cost a queue per socket.
    channel_layer_alias = ""
    visitor: Visitor | None = None

    async def dispatch(self, message: dict[str, Any]) -> None:
        # Not Channels' own: it has a thread look after database connections for each message, and here is none.
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        user, session = self.scope["user"], self.scope["session"]
        await self.accept()  # refused before that, a browser is not told why
        if not user.is_authenticated:
            await self.close(NOT_LOGGED_IN)
            return
        self.visitor = Visitor(session.session_key, user.pk)
        self.pace = Pace(MOST_MESSAGES_PER_SECOND)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:  # noqa: ARG002 - Channels'
        if self.visitor is None:
            return
        try:
            said = self._read(text_data)
            if said.get("ack"):
                relay().answered(self)
            if "watch" in said:
                relay().watch(self, _topics(said["watch"]))
        except (UnreadableError, UnknownTopicError):
            self.visitor = None
            relay().leave(self)
            await self.close(UNREADABLE)

    def _read(self, text: str | None) -> dict[str, Any]:
        if not self.pace.keeps(time.monotonic()):
            raise UnreadableError
        return _read(text)

    async def disconnect(self, code: int) -> None:  # noqa: ARG002 - Channels' signature
        relay().leave(self)

    async def send_frame(self, text: str) -> None:
        with suppress(Disconnected):  # it has just gone, which nobody has been told yet; others get theirs
            await self.send(text_data=text)

    async def close_overdue(self) -> None:
        await self.close(OVERDUE)

    async def close_stranger(self) -> None:
        await self.close(STRANGER)


def _read(text: str | None) -> dict[str, Any]:
    if text is None or len(text) > LONGEST_MESSAGE:
        raise UnreadableError
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:  # the latter for brackets nested without end
        raise UnreadableError from error
    if not isinstance(said, dict):
        raise UnreadableError
    return said


def _topics(wish: object) -> dict[str, Cursor]:
    if not isinstance(wish, dict) or len(wish) > MOST_TOPICS:
        raise UnreadableError
    if any(fault_of(topic, lines=True) for topic in wish):  # a frame names its topic, and UTF-8 has no half of a pair
        raise UnreadableError
    return {topic: _cursor(topic, said if isinstance(said, dict) else {}) for topic, said in wish.items()}


def _cursor(topic: str, said: dict[str, Any]) -> Cursor:
    if topic == LOAD:
        return 0
    if is_log(topic):
        number_in(topic, topic.partition(":")[2])
        return LogCursor(_whole(said.get("attempt", 0)), _whole(said.get("offset", 0)))
    parts_of(topic)
    return str(said.get("board", "")), _whole(said.get("version", 0))


def _whole(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value <= LARGEST_OFFSET:
        raise UnreadableError
    return value
