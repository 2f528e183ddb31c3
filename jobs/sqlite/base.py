"""Django's SQLite backend for one file that the engine and many pages of one process write.

All that write take one lock of the process first (`lock`), whether in an atomic block or by a single statement in
autocommit. Other processes are kept apart by SQLite itself and its busy timeout.
"""

import functools
import os
import sqlite3
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base

from jobs.sqlite import filesystem, lock, statements

BUSY_TIMEOUT_SECONDS = 20
# FULL for pages too: a submit that was answered must survive a power cut. The service checkpoints on a thread of its
# own; the number of pages is only what holds the WAL down when no service runs.
PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 10000")

_wrappers: "weakref.WeakSet[DatabaseWrapper]" = weakref.WeakSet()
_left_to_the_parent: list[sqlite3.Connection] = []


class DatabaseWrapper(base.DatabaseWrapper):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.write_lock = lock.WriteLock()  # nobody else's, until connected
        _wrappers.add(self)

    def get_connection_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_connection_params()
        self.timeout_seconds = params.setdefault("timeout", BUSY_TIMEOUT_SECONDS)
        # A deferred transaction that reads first and then writes fails at once with "database is locked", whatever
        # the timeout, when another has written in between.
        self.transaction_mode = "IMMEDIATE"
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> sqlite3.Connection:
        self.write_lock = lock.of_database(_key(conn_params["database"]))
        refuse_network_file_system(conn_params["database"])
        connection: sqlite3.Connection = super().get_new_connection(conn_params)
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        if lock.is_engine_thread():
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # a checkpoint takes 9 to 13 ms
        return connection

    def create_cursor(self, name: str | None = None) -> "Cursor":  # noqa: ARG002  # Django's signature
        cursor: Cursor = self.connection.cursor(factory=Cursor)
        cursor.database = self
        return cursor

    def hold_write_lock(self) -> None:
        if not self.write_lock.acquire(self, self.timeout_seconds):
            raise sqlite3.OperationalError(
                f"database is locked: another transaction of this process was still writing to "
                f"{self.settings_dict['NAME']} after {self.timeout_seconds} s; try again, and look for a transaction "
                "that stays open while it waits for something"
            )

    def release_write_lock(self) -> None:
        """Give the lock up unless the connection is still in a transaction."""
        if self.connection is None or not self.connection.in_transaction:
            self.write_lock.release(self)

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]  # django-stubs does not know it; nor the next two
        finally:
            self.release_write_lock()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self.release_write_lock()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self.write_lock.release(self)  # closing rolls back what was open


class Cursor(base.SQLiteCursorWrapper):
    """Holds the write lock while a statement writes, and on to the end of the transaction if it is in one."""

    database: DatabaseWrapper
    _returned: Iterator[Any] | None = None

    def execute(self, query: str, params: Any = None) -> "Cursor":
        self._returned = None
        if not statements.writes(query):
            super().execute(query, params)
            return self
        try:
            self.database.hold_write_lock()
            super().execute(query, params)
            if self.description is not None:
                # INSERT ... RETURNING commits only when its last row is read: read it while the lock is held.
                self._returned = iter(super().fetchall())
        finally:
            self.database.release_write_lock()
        return self

    def executemany(self, query: str, param_list: Iterable[Any]) -> "Cursor":
        self._returned = None
        try:
            self.database.hold_write_lock()
            super().executemany(query, param_list)
        finally:
            self.database.release_write_lock()
        return self

    def executescript(self, sql_script: str) -> "Cursor":
        self._returned = None
        try:
            self.database.hold_write_lock()
            super().executescript(sql_script)
        finally:
            self.database.release_write_lock()
        return self

    def fetchone(self) -> Any:
        return super().fetchone() if self._returned is None else next(self._returned, None)

    def fetchmany(self, size: int | None = None) -> list[Any]:
        size = self.arraysize if size is None else size
        if self._returned is None:
            return super().fetchmany(size)
        return [row for _, row in zip(range(size), self._returned, strict=False)]

    def fetchall(self) -> list[Any]:
        return super().fetchall() if self._returned is None else list(self._returned)

    def __next__(self) -> Any:
        return super().__next__() if self._returned is None else next(self._returned)


class NetworkFileSystemError(sqlite3.OperationalError):
    """The database file lies where SQLite cannot keep it whole."""


@functools.cache
def refuse_network_file_system(database: str) -> None:
    kind = filesystem.network_kind(Path(database).parent) if Path(database).is_absolute() else None
    if kind:
        raise NetworkFileSystemError(
            f"{database} is on a network file system ({kind}), where SQLite loses data; set ROTA_DATA to a folder on a "
            "local disk, or DATABASE_URL to a PostgreSQL database"
        )


def _key(database: str) -> str:
    return str(Path(database).resolve()) if Path(database).is_absolute() else database


def _leave_connections_to_the_parent() -> None:
    """In a forked child: forget each connection without closing it, for its file locks are the parent's."""
    lock.forget_all()
    for wrapper in list(_wrappers):
        if wrapper.connection is not None:
            _left_to_the_parent.append(wrapper.connection)
            wrapper.connection = None


os.register_at_fork(after_in_child=_leave_connections_to_the_parent)
