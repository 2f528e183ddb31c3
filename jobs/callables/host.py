"""The process in which async and thread callables of a node run, with the project loaded.

It ends with the service. What becomes of its attempts then, and when one blocks or kills it, is in docs/callables.md.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from contextvars import Context as Variables
from functools import partial
from typing import Any, NoReturn

from jobs.callables import process, refusals, starts, streams, threads
from jobs.callables.answers import Answer, attempted
from jobs.callables.childends import ChildEnds
from jobs.callables.children import Children
from jobs.callables.coroutines import Coroutines
from jobs.callables.hosted import Hosted
from jobs.callables.link import Link, guarded
from jobs.callables.taking import STOP_SECONDS, call_of, judged, taken
from jobs.callables.watchdog import Watchdog
from jobs.embedded.cancellation import give_token
from jobs.embedded.threads import ThreadPool
from jobs.execution.ending import end_all
from jobs.execution.spawn import PR_SET_CHILD_SUBREAPER, prctl
from jobs.execution.verdict import CANCELLED, STOPPED, EndedByUs, timed_out

LAST_WRITES_SECONDS = 1.0


def main(fd: int, service: int) -> None:
    """`fd`: the socket; `service`: process id of the service, which this process does not outlive."""
    process.begin(service)
    process.keep_exits()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    children = Children()
    reports = starts.install(children.note)
    threads.install()
    refusals.install()
    streams.install()
    process.load_project()
    Host(Link(fd), children, reports).run()


class Host:
    """What the link calls belongs to the main thread."""

    def __init__(self, link: Link, children: Children, reports: int) -> None:
        """`reports`: descriptor of what forks of forks say, for `children`."""
        self._link = link
        self._attempts: dict[str, Hosted] = {}
        self._child_ends = ChildEnds(link, children, self._attempts)
        link.watch(reports, lambda: children.take_reports(reports, self._attempts))
        self._clerk = Clerk()
        self._threads = ThreadPool("callable")
        self._coroutines = Coroutines(self._begun, self._returned)
        self._watchdog = Watchdog(self._coroutines, self._blocked)
        self._stopping = self._over = self._was_blocked = False

    def run(self) -> None:
        self._clerk.start()
        self._coroutines.thread.start()
        self._watchdog.start()
        self._link.send(ready=True)
        self._link.serve(self._start, partial(self._ask_to_end, why=CANCELLED), self._stop)
        self._end()

    # --- start ---

    def _start(self, token: str, path: str) -> None:
        hosted = taken(self._link, token, path, self._ask_to_end)
        if hosted is None:
            return
        self._attempts[token] = hosted
        call = hosted.why_not() or call_of(hosted.spec.body, hosted.parameters, hosted.context)
        if isinstance(call, Answer):
            hosted.withdraw()
            self._clerk.put(partial(self._ended, hosted, lambda: call))
        elif hosted.spec.hosted == "async":
            self._watchdog.needed.set()
            self._coroutines.start(hosted, call)
            if self._was_blocked:  # this one was sent before the service heard of that
                self._take_back(hosted)
        else:
            self._start_thread(hosted, call)

    def _start_thread(self, hosted: Hosted, call: Callable[[], Any]) -> None:
        try:
            self._threads.run(partial(self._on_thread, hosted, call))
        except RuntimeError as error:  # the machine gives no more
            refused = Answer("lost", f"could not be started: {error}")
            hosted.withdraw()
            self._clerk.put(partial(self._ended, hosted, lambda: refused))

    def _begun(self, hosted: Hosted) -> None:
        self._clerk.put(partial(self._tell_begun, hosted))
        if seconds := hosted.spec.timeout_seconds:
            self._link.later(seconds, partial(self._ask_to_end, hosted.token, timed_out(seconds)))

    def _tell_begun(self, hosted: Hosted) -> None:
        hosted.tell_started(os.getpid())
        self._link.send(began=hosted.token, pid=os.getpid(), at=hosted.started_at)

    def _on_thread(self, hosted: Hosted, call: Callable[[], Any]) -> None:
        if hosted.begin():
            self._begun(hosted)
            # Each in a context of its own: what one leaves in a context variable is not the next one's.
            answer, seconds = Variables().run(on_thread, hosted, call)
            self._returned(hosted, lambda: answer, cpu_seconds=seconds)
        self._threads.free()

    # --- end ---

    def _ask_to_end(self, token: str, why: EndedByUs) -> None:
        hosted = self._attempts.get(token)
        if hosted is None:
            return
        if hosted.withdraw():
            never = Answer(why.kind, "was cancelled before it was started")
            self._clerk.put(partial(self._ended, hosted, lambda: never))
        elif hosted.ask_to_end(why):
            if hosted.spec.hosted == "async":
                hosted.notice(f"{why.error}: its task is cancelled")
                self._coroutines.end(hosted)
            elif why is not STOPPED:
                self._clerk.put(partial(self._abandon, hosted, why))
            if why is not STOPPED:  # else one that waits for a process would be said to have failed with that
                self._child_ends.ask(hosted, why.error)

    def _returned(self, hosted: Hosted, answer: Callable[[], Answer], **facts: Any) -> None:
        """Called in its thread, or in the loop's. At the end of the host it may only come of that."""
        if self._over:
            return
        hosted.finish()
        tell = partial(self._clerk.put, partial(self._ended, hosted, answer, **facts))
        if self._child_ends.may_be(hosted):
            self._link.later(0.0, partial(self._child_ends.finish, hosted, tell))
        else:
            tell()

    def _ended(self, hosted: Hosted, answer: Callable[[], Answer], *, interrupted: bool = False, **facts: Any) -> None:
        if self._attempts.pop(hosted.token, None) is None:
            return
        if not self._attempts:
            self._watchdog.needed.clear()
            if self._attempts:  # one has come just now
                self._watchdog.needed.set()
        if hosted.abandoned:
            hosted.release()
            self._link.send(released=hosted.token)
        else:
            result = hosted.end(judged(hosted.ending, answer(), interrupted=interrupted), **facts)
            self._link.send(ended=hosted.token, result=result.to_json())
        if self._stopping:
            self._leave_if_empty()

    def _abandon(self, hosted: Hosted, why: EndedByUs) -> None:
        if hosted.token in self._attempts:
            hosted.abandoned = True
            result = hosted.abandon(Answer(why.kind, why.error))
            self._link.send(abandoned=hosted.token, result=result.to_json())

    def _blocked(self, hosted: Hosted | None, sentence: str) -> None:
        """Called in the watchdog's thread. What has not begun may begin elsewhere."""
        who = f"attempt {hosted.spec.attempt} of instance {hosted.spec.instance_id}" if hosted else "a callback"
        print(f"{who} {sentence}", flush=True)  # noqa: T201 the host's log
        if hosted:
            hosted.notice(f"it {sentence}")
        self._was_blocked = True
        self._link.send(blocked=f"{who} {sentence}")
        for one in list(self._attempts.values()):
            self._take_back(one)

    def _take_back(self, hosted: Hosted) -> bool:
        """Whether it had not begun; another host may have it then."""
        withdrawn = hosted.withdraw()
        if withdrawn:
            self._clerk.put(partial(self._hand_back, hosted))
        return withdrawn

    def _hand_back(self, hosted: Hosted) -> None:
        if self._attempts.pop(hosted.token, None):
            hosted.hand_back()
            self._link.send(returned=hosted.token)

    # --- the end of the host ---

    def _stop(self) -> None:
        self._stopping = True
        for token, hosted in list(self._attempts.items()):
            if not self._take_back(hosted):
                self._ask_to_end(token, STOPPED)
        self._clerk.put(self._leave_if_empty)
        self._link.later(STOP_SECONDS, self._end)

    def _leave_if_empty(self) -> None:
        if not self._attempts:
            leave()

    def _end(self) -> None:
        """At once, whatever still runs: threads cannot be ended in any other way."""
        self._stopping = self._over = True
        for hosted in list(self._attempts.values()):
            hosted.ask_to_end(STOPPED)
        self._clerk.put(self._end_children)
        self._clerk.join(LAST_WRITES_SECONDS)
        leave()

    def _end_children(self) -> None:
        """First: this process may be killed meanwhile, as its service was, and whoever finds that an attempt has ended
        looks for nothing of it any more.
        """
        end_all()
        self._child_ends.conclude()
        self._clerk.put(self._end_attempts)

    def _end_attempts(self) -> None:
        for hosted in list(self._attempts.values()):
            why = hosted.ending or STOPPED
            self._ended(hosted, partial(Answer, why.kind, why.error), interrupted=True)
        leave()


def leave() -> NoReturn:
    end_all()
    os._exit(0)


class Clerk(threading.Thread):
    """Does what waits for the disk, one after another."""

    def __init__(self) -> None:
        super().__init__(name="clerk", daemon=True)
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def put(self, call: Callable[[], None]) -> None:
        self._calls.put(call)

    def run(self) -> None:
        while True:
            guarded(self._calls.get())


def on_thread(hosted: Hosted, call: Callable[[], Any]) -> tuple[Answer, float]:
    """How it ended, and the seconds that it had of a core."""
    streams.current.set(hosted)
    give_token(hosted.cancelled)
    process.fresh_connections()
    began = time.thread_time()
    answer = attempted(call)
    seconds = time.thread_time() - began
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # the next one on this thread finds it as it was
    process.fresh_connections()
    return answer, seconds
