"""The one task of a web process that follows the feed and hands frames to its sockets.

It turns when something was committed here, when a browser answers, and at its own next moment; with no socket it
sleeps. Queries, files and drawing happen on its one thread; the loop only hands out strings that are ready.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import WeakKeyDictionary

from django.db import DatabaseError, connection

from dashboard.live.hub import Cursor, Hub, Socket
from dashboard.live.logs import SOUGHT_EACH_SECONDS
from dashboard.live.source import Source
from dashboard.live.visitors import still_welcome
from dashboard.topics import is_log
from jobs.store import wake

logger = logging.getLogger(__name__)

MERGED_SECONDS = 0.1  # what is committed within it is read together
PORTION = 25  # so many sends hold the loop for about a millisecond
PAUSE_AFTER_ERROR_SECONDS = 1.0
VISITORS_CHECKED_EACH_SECONDS = 30.0


class Relay:
    """Methods are called on the event loop only."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.hub = Hub()
        self.source = Source()
        self._clock = clock
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="relay")
        self._awake = asyncio.Event()
        self._committed = False
        self._failing = False
        self._read_at = float("-inf")
        self._read_next_at = float("-inf")
        self._visitors_checked_at = clock()
        self._task: asyncio.Task[None] | None = None

    def watch(self, socket: Socket, topics: dict[str, Cursor]) -> None:
        """Send this socket what these topics show, from these cursors on."""
        self.hub.watch(socket, topics, self._clock())
        self._read_next_at = float("-inf")
        self._start()
        self._awake.set()

    def answered(self, socket: Socket) -> None:
        self.hub.answered(socket)
        if self.hub.watches(socket, is_log):
            # Its next frame is not ready as those of boards are: it has to be read where this page is.
            self._read_next_at = min(self._read_next_at, self._read_at + SOUGHT_EACH_SECONDS)
        self._awake.set()

    def leave(self, socket: Socket) -> None:
        self.hub.leave(socket)

    def committed(self) -> None:
        """Something was committed by this process."""
        self._committed = True
        self._awake.set()

    async def turn(self) -> float | None:
        """Close who is overdue, read what is due, hand out. Returns the seconds until the next, None: when woken."""
        for socket in self.hub.overdue(self._clock()):
            await socket.close_overdue()
        await self._close_strangers()
        if len(self.hub) and self._clock() >= self._read_due_at():
            await self._read()
        if self._failing:  # no frame, no tick: pages say by themselves how old they are
            return max(0.0, self._read_due_at() - self._clock())
        await self._hand_out()
        due_at = self.hub.due_at(self.source.next_frame)
        return None if due_at is None else max(0.0, min(due_at, self._read_due_at()) - self._clock())

    async def _read(self) -> None:
        woken, self._committed = self._committed, False
        wanted = {topic: self.hub.cursors(topic) for topic in self.hub.topics()}
        self._read_at = at = self._clock()
        self._read_next_at = float("inf")  # who comes while it reads sets it back
        next_at = at + PAUSE_AFTER_ERROR_SECONDS
        self._failing = True
        try:
            next_at = await self._on_thread(lambda: self.source.read(wanted, woken=woken, at=at))
            self._failing = False
        finally:
            self._committed = self._committed or (self._failing and woken)
            self._read_next_at = min(self._read_next_at, next_at)

    def _read_due_at(self) -> float:
        # Most turns are answers of browsers: those need no look at the database, and no change of threads.
        soon = self._committed and not self._failing
        return min(self._read_next_at, self._read_at + MERGED_SECONDS) if soon else self._read_next_at

    async def _close_strangers(self) -> None:
        """Close the sockets whose visitor has logged out meanwhile, may not come in any more, or has a new password."""
        if not len(self.hub) or self._clock() < self._visitors_checked_at + VISITORS_CHECKED_EACH_SECONDS:
            return
        self._visitors_checked_at = self._clock()
        sockets = self.hub.sockets()
        welcome = await self._on_thread(lambda: still_welcome({socket.visitor for socket in sockets}))
        for socket in sockets:
            if socket.visitor not in welcome:
                self.hub.leave(socket)
                await socket.close_stranger()

    async def _hand_out(self) -> None:
        for sent, (socket, text) in enumerate(self.hub.hand_out(self._clock(), self.source.next_frame), 1):
            await socket.send_frame(text)
            if sent % PORTION == 0:
                await asyncio.sleep(0)

    async def _run(self) -> None:
        stop = wake.listen(self._wake_from_any_thread(asyncio.get_running_loop()))
        try:
            while len(self.hub):
                while len(self.hub):
                    self._awake.clear()
                    await self._sleep(await self._careful_turn())
                await self._on_thread(self._rest)  # somebody may come meanwhile
        finally:
            stop()

    async def _careful_turn(self) -> float | None:
        try:
            return await self.turn()
        except DatabaseError as error:
            logger.error("the pages are not up to date: the database cannot be read, again in a second: %s", error)
            await self._on_thread(close_connection)
        except Exception:  # one reader's fault must not end the live view of all others
            logger.exception("a part of the pages cannot be read")
        return PAUSE_AFTER_ERROR_SECONDS

    def _rest(self) -> None:
        self.source.rest()
        connection.close()
        self._read_next_at = float("-inf")

    async def _sleep(self, seconds: float | None) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._awake.wait()
        except TimeoutError:
            return

    async def _on_thread(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="relay")

    def _wake_from_any_thread(self, loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
        def wake_up() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self.committed)

        return wake_up


def close_connection() -> None:
    """That of the thread that calls this: `connection.close` is that of the thread which has read the name."""
    connection.close()


_relays: WeakKeyDictionary[asyncio.AbstractEventLoop, Relay] = WeakKeyDictionary()


def relay() -> Relay:
    """That of the running event loop; a web process has one loop."""
    loop = asyncio.get_running_loop()
    if loop not in _relays:
        _relays[loop] = Relay()
    return _relays[loop]
