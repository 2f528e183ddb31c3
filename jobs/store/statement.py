"""Running one guarded statement over many rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from jobs.store.rows import parameter, relation


@dataclass(frozen=True, slots=True)
class RowsStatement:
    """SQL with `{rows}` where the relation `v` belongs, and `{on_postgres}` where `on_postgres` does, on PostgreSQL.

    Run with rows in the order of `columns`, it returns what the statement's RETURNING gives: the rows that moved.
    """

    columns: dict[str, str]
    sql: str
    on_postgres: str = ""

    def run(self, rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Execute on the thread's connection. No rows, no statement."""
        listed = list(rows)
        if not listed:
            return []
        addition = self.on_postgres if connection.vendor == "postgresql" else ""
        sql = self.sql.replace("{rows}", relation(connection, self.columns)).replace("{on_postgres}", addition)
        with connection.cursor() as cursor:
            cursor.execute(sql, [parameter(connection, self.columns, listed)])
            moved: list[tuple[Any, ...]] = cursor.fetchall()
            return moved
