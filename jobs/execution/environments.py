"""The environments of a node: who waits for which, who uses which, and which go when they are too many.

An environment has two names. `name` is what it is asked for by, and may stand for needs that have to be read first;
`key` is that of what is needed (`PackagesNeeded.key`), so that all who need the same share one.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from jobs.core.packages import PackagesNeeded
from jobs.execution.build import Builder, BuildFailed, Unwanted, Wish
from jobs.execution.confinement import MEGABYTE
from jobs.execution.environment import NODE_FILE
from jobs.execution.installed import EnvironmentFolder, Installed, bytes_on_disk, days_ago, look, remove
from jobs.execution.inuse import IN_USE
from jobs.execution.workers import Workers

logger = logging.getLogger(__name__)

BUILDS_AT_ONCE, LOOKS_AT_ONCE, READS_AT_ONCE = 2, 2, 8
TEND_EVERY_SECONDS = 3600.0
TELL_EVERY_SECONDS = 60.0  # of what has been used, and by whom no longer
FIRST_LOOK_SECONDS = 30.0  # to ask each Python what it is takes seconds on some machines, and nobody waits for it

Read = Callable[[], PackagesNeeded]


@dataclass(frozen=True, slots=True)
class Given:
    """What is to be used: the environment in `directory`, or the service's own Python if that is empty.

    `error`: why there is none. `log`: what its build printed, for the first who uses it.
    """

    directory: str = ""
    error: str = ""
    log: tuple[str, ...] = ()
    key: str = ""


@dataclass(slots=True)
class _Asked:
    told: Callable[[], None]
    given: Given | None = None
    key: str = ""
    before: Given | None = None


@dataclass(slots=True)
class _Build:
    needed: PackagesNeeded
    wish: Wish = field(default_factory=Wish)
    waiting: set[str] = field(default_factory=set)


class Environments:
    """Any thread may call, and waits for nothing: what takes its time is done by threads of its own."""

    def __init__(
        self,
        data_dir: Path,
        *,
        timeout_seconds: float,
        most_mb: int,
        most_days: float,
        tell: Callable[[EnvironmentFolder], object] = lambda _folder: None,
    ) -> None:
        """most_mb: together with the cache. most_days: for which one is kept that nobody uses. tell: called by one
        thread of ours whenever what is there may have changed.
        """
        self.folder = EnvironmentFolder(data_dir)
        self._builder = Builder(self.folder, data_dir / NODE_FILE, timeout_seconds)
        self._most_bytes = most_mb * MEGABYTE
        self._most_days = most_days
        self._gate = threading.Lock()
        self._asked: dict[str, _Asked] = {}
        self._builds: dict[str, _Build] = {}
        self._using: dict[str, str] = {}  # key by token of an attempt
        self._tell = partial(tell, self.folder)
        self._tend_at = self._tell_at = 0.0
        self._looks = Workers("environments", LOOKS_AT_ONCE)
        self._reads = Workers("reading of scripts", READS_AT_ONCE)  # a file system may not answer
        self._tidying = Workers("tidying of environments", 1)  # takes long at times, and starts wait for the others
        self._makers = Workers("builds", BUILDS_AT_ONCE)

    def open(self) -> None:
        """OSError if the data folder cannot be written."""
        self.folder.make()
        self._tend_at = time.monotonic() + FIRST_LOOK_SECONDS
        for left in self.folder.left_over():
            self._tidying.put(partial(remove, left))
        self._tidying.put(self._tell)

    def close(self) -> None:
        """End all builds. What was being looked at is left."""
        with self._gate:
            builds = [*self._builds.values()]
        for build in builds:
            build.wish.end()
        self._makers.close()
        self._looks.close()
        self._reads.close()
        self._tidying.close()

    # --- asking ---

    def prepare(
        self,
        name: str,
        read: Read,
        told: Callable[[], None],
        before: Given | None = None,
        *,
        reads_file: bool = False,
    ) -> None:
        """Make sure of what `read` says is needed, and call `told`, from another thread, when `take` knows an answer.

        read: called in another thread; ValueError or OSError with a sentence if it cannot be read. before: the answer
        for the same attempt a moment ago: what could not be built then is not tried again. reads_file: it may take
        long, and keeps waiting only those of which this is said too.
        """
        with self._gate:
            asked = self._asked[name] = _Asked(told, before=before)
        (self._reads if reads_file else self._looks).put(partial(self._look, name, asked, read))

    def unprepare(self, name: str) -> None:
        """Nobody waits under this name any more. A build for which nobody else does is ended."""
        with self._gate:
            asked = self._asked.pop(name, None)
            build = self._builds.get(asked.key) if asked else None
            if build is None:
                return
            build.waiting.discard(name)
            if not build.waiting:
                del self._builds[asked.key]  # type: ignore[union-attr]  # there is a build only of what was asked for
                build.wish.end()

    def unprepare_all(self, but: Collection[str]) -> None:
        """Who asked for others is not there any more. What is being built is made ready for whoever asks next."""
        with self._gate:
            self._asked = {name: asked for name, asked in self._asked.items() if name in but}

    def take(self, name: str, token: str) -> Given | None:
        """For the attempt `token`, until it is given back; None if there is no answer (yet).

        One that was removed by hand is no answer any more: as long as somebody waits for it, nobody else looks again.
        """
        with self._gate:
            asked = self._asked.get(name)
            if asked is None or asked.given is None:
                return None
            given = asked.given
            if given.directory and not Path(given.directory, IN_USE).exists():
                asked.given = None
                return None
            if given.directory:
                self._using[token] = given.key
                asked.given = Given(given.directory, key=given.key)
            return given

    def give_back(self, token: str) -> None:
        """The attempt has ended."""
        self._looks.put(partial(self._note_end, token))

    # --- looking and building, in threads of our own ---

    def _note_end(self, token: str) -> None:
        """It counts as used until its last use is noted: between the two it would look as if it were not for long."""
        with self._gate:
            key = self._using.get(token)
        if key is not None:
            self.folder.used(key)
        with self._gate:
            self._using.pop(token, None)

    def _look(self, name: str, asked: _Asked, read: Read) -> None:
        try:
            needed = read()
        except (ValueError, OSError) as error:
            self._answer([asked], Given(error=f"what it needs cannot be read: {error}"))
            return
        except Exception as error:  # whoever waits would do so for ever
            logger.exception("what an environment needs cannot be read for a reason that nobody foresaw")
            self._answer([asked], Given(error=f"what it needs cannot be read, {type(error).__name__}: {error}"))
            return
        if not needed.key:
            self._answer([asked], Given())
            return
        if asked.before and asked.before.error and asked.before.key == needed.key:
            self._answer([asked], asked.before)
            return
        with self._gate:
            if self._asked.get(name) is not asked:
                return
            asked.key = needed.key
            there = self._find_or_join(name, needed)
        if there:
            self.folder.used(needed.key)
            self._answer([asked], Given(str(there), key=needed.key))

    def _find_or_join(self, name: str, needed: PackagesNeeded) -> Path | None:
        """Where it is; or None, and it waits for the build that there is, or for a new one."""
        build = self._builds.get(needed.key)
        if build is None:
            if there := self.folder.find(needed.key):
                return there
            build = self._builds[needed.key] = _Build(needed)
            self._makers.put(partial(self._build, build))
        build.waiting.add(name)
        return None

    def _build(self, build: _Build) -> None:
        key = build.needed.key
        try:
            log = self._builder.make(build.needed, key, build.wish)
            given = Given(str(self.folder.path(key)), log=log, key=key)
        except Unwanted:
            return
        except BuildFailed as error:
            given = Given(error=str(error), log=error.log, key=key)
        except Exception as error:
            logger.exception("a build failed for a reason that nobody foresaw")
            given = Given(error=f"its packages could not be installed, {type(error).__name__}: {error}", key=key)
        with self._gate:
            if self._builds.get(key) is build:
                del self._builds[key]
            asked = [self._asked[name] for name in sorted(build.waiting) if name in self._asked]
        self._answer(asked, given)
        self._tidying.put(self._evict)
        self._tidying.put(self._tell)

    def _answer(self, asked: list[_Asked], given: Given) -> None:
        """The log goes to the first of those who share it; why there is none, to each."""
        for one in asked:
            one.given = given
            one.told()
            if not given.error:
                given = Given(given.directory, key=given.key)

    # --- order ---

    def tend(self) -> None:
        """See which Pythons are there, and whether some have to go: to be called now and then, done once in a while."""
        now = time.monotonic()
        if now > self._tend_at:
            self._tend_at, self._tell_at = now + TEND_EVERY_SECONDS, now
            self._tidying.put(self._builder.look_for_pythons)
            self._tidying.put(self._evict)
        if now >= self._tell_at:
            self._tell_at = now + TELL_EVERY_SECONDS
            self._tidying.put(self._tell)

    def _evict(self) -> None:
        """First those that are too old, then the cache, which costs a download, then those not used for longest."""
        installed = sorted(self.folder.all(), key=lambda one: one.used_at)
        kept = [one for one in installed if days_ago(one.used_at) <= self._most_days or not self._remove(one)]
        if self._is_over():
            self._empty_cache()
        for one in kept:
            if not self._is_over():
                return
            self._remove(one)

    def _empty_cache(self) -> None:
        """Unless it is needed: one that began while it is gone would find it taken away, or make one of its own, which
        others can read.
        """
        with self._gate:
            if self._builds:
                return
            gone = self.folder.put_away(self.folder.cache)
            self.folder.make()
        remove(gone)

    def _is_over(self) -> bool:
        return bytes_on_disk(self.folder.root) > self._most_bytes

    def _remove(self, one: Installed) -> bool:
        """False if somebody uses it, or is about to, or has done so since `one` was looked at."""
        with self._gate:
            wanted = {asked.key for asked in self._asked.values()} | {*self._using.values()}
            if one.key in wanted or one.in_use or look(one.path) != one:
                return False
            gone = self.folder.put_away(one.path)
        logger.info("environment %s was not used for %.1f days and is removed", one.key, days_ago(one.used_at))
        remove(gone)
        return True
