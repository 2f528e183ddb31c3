"""Sockets, what each watches, and its credit: one frame in flight, the next only when the browser has said it has it.

Daphne buffers what a browser does not read without bound. Here such a browser costs one frame, and is closed when it
has not answered for ten seconds; it comes back and gets what it missed. Pure: `now` is monotonic seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from dashboard.live.visitors import Visitor

ACK_SECONDS = 10.0  # an answer later than this is none
SPACING_SECONDS = 0.1  # ten frames a second at most, whatever happens
BURST = 3  # of which so many may come together: a page that was just opened must not wait for each of its topics
TICK_SECONDS = 5.0  # a quiet socket is told that all is well, so that its badge need not guess

Cursor = Any  # what a topic needs to know about how far a socket is; see `NextFrame`
# Given topic and cursor: the next frame's text and the cursor after it, or None if there is nothing.
NextFrame = Callable[[str, Cursor], "tuple[str, Cursor] | None"]

TICK = '{"kind":"tick"}'


class Socket(Protocol):
    """The way to one browser. No call may raise because the browser is gone."""

    @property
    def visitor(self) -> Visitor: ...

    async def send_frame(self, text: str) -> None: ...

    async def close_overdue(self) -> None: ...

    async def close_stranger(self) -> None: ...


@dataclass(eq=False, slots=True)
class Watcher:
    """A socket with its topics. `waits_since` while an answer is due; `paced_at` is when an even pace would send."""

    socket: Socket
    topics: dict[str, Cursor]
    sent_at: float
    paced_at: float
    waits_since: float | None = None
    turn: int = 0

    def may_send_at(self) -> float:
        return self.paced_at - (BURST - 1) * SPACING_SECONDS

    def sent(self, now: float) -> None:
        self.sent_at = self.waits_since = now
        self.paced_at = max(self.paced_at, now) + SPACING_SECONDS

    def late(self, now: float) -> bool:
        return self.waits_since is not None and now >= self.waits_since + ACK_SECONDS


class Hub:
    def __init__(self) -> None:
        self._watchers: dict[Socket, Watcher] = {}

    def __len__(self) -> int:
        return len(self._watchers)

    def watch(self, socket: Socket, topics: dict[str, Cursor], now: float) -> None:
        """From now on this socket gets frames of exactly these topics, each from its cursor on."""
        known = self._watchers.get(socket)
        if known is None:
            self._watchers[socket] = Watcher(socket, topics, sent_at=now, paced_at=now)
        else:
            known.topics = topics

    def leave(self, socket: Socket) -> None:
        """Fine if it is not here any more."""
        self._watchers.pop(socket, None)

    def answered(self, socket: Socket) -> None:
        """The browser has the last frame. An answer to nothing changes nothing."""
        if watcher := self._watchers.get(socket):
            watcher.waits_since = None

    def sockets(self) -> list[Socket]:
        return list(self._watchers)

    def watches(self, socket: Socket, is_wanted: Callable[[str], bool]) -> bool:
        """Whether this socket watches a topic of that kind."""
        watcher = self._watchers.get(socket)
        return watcher is not None and any(map(is_wanted, watcher.topics))

    def topics(self) -> set[str]:
        return {topic for watcher in self._watchers.values() for topic in watcher.topics}

    def cursors(self, topic: str) -> set[Cursor]:
        """The distinct cursors of the sockets that wait for this topic and may be sent something."""
        return {
            watcher.topics[topic]
            for watcher in self._watchers.values()
            if topic in watcher.topics and watcher.waits_since is None
        }

    def overdue(self, now: float) -> list[Socket]:
        """Sockets that did not answer in time; they are forgotten here and now."""
        late = [watcher.socket for watcher in self._watchers.values() if watcher.late(now)]
        for socket in late:
            self.leave(socket)
        return late

    def hand_out(self, now: float, next_frame: NextFrame) -> Iterator[tuple[Socket, str]]:
        """Frames to send now, one for each socket that has credit and something new, or nothing for too long."""
        for watcher in list(self._watchers.values()):
            # Whoever takes these frames may wait in between, and a browser may go meanwhile.
            gone = self._watchers.get(watcher.socket) is not watcher
            if gone or watcher.waits_since is not None or now < watcher.may_send_at():
                continue
            text = _next_of(watcher, next_frame)
            if text is None and now >= watcher.sent_at + TICK_SECONDS:
                text = TICK
            if text is not None:
                watcher.sent(now)
                yield watcher.socket, text

    def due_at(self, next_frame: NextFrame) -> float | None:
        """When `hand_out` or `overdue` would next have something to do; None if there is nobody."""
        return min((_due_at(watcher, next_frame) for watcher in self._watchers.values()), default=None)


def _next_of(watcher: Watcher, next_frame: NextFrame) -> str | None:
    # Topics take turns: a log that never ends must not keep the state of its instance from the page.
    topics = list(watcher.topics)
    for step in range(len(topics)):
        topic = topics[(watcher.turn + step) % len(topics)]
        if found := next_frame(topic, watcher.topics[topic]):
            text, watcher.topics[topic] = found
            watcher.turn = (watcher.turn + step + 1) % len(topics)
            return text
    return None


def _due_at(watcher: Watcher, next_frame: NextFrame) -> float:
    if watcher.waits_since is not None:
        return watcher.waits_since + ACK_SECONDS
    if any(next_frame(topic, cursor) for topic, cursor in watcher.topics.items()):
        return watcher.may_send_at()
    return watcher.sent_at + TICK_SECONDS
