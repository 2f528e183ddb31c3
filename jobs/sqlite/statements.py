"""Which SQL statements need SQLite's write lock."""

import re

_FIRST_WORD = re.compile(r"[\s(]*(\w+)")
_WRITES_INSIDE = re.compile(r"\b(INSERT|UPDATE|DELETE|REPLACE)\b", re.IGNORECASE)
# PRAGMA is one of them: those that Django and Rota use read, set the connection up, or (wal_checkpoint) take a lock of
# their own, and a checkpoint must not hold up the engine.
_READERS = {"SELECT", "VALUES", "EXPLAIN", "PRAGMA"}


def writes(sql: str) -> bool:
    """False only for what surely does not write. A doubtful one is a writer: that costs a wait, not a lost update."""
    match = _FIRST_WORD.match(sql)
    word = match.group(1).upper() if match else ""
    if word == "WITH":
        return _WRITES_INSIDE.search(sql) is not None
    return word not in _READERS
