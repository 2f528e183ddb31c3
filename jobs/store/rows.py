"""Many rows as one SQL parameter, the same on SQLite and PostgreSQL.

A guarded update of many rows has to say *which* rows it moved. One statement over a relation made from a JSON
parameter, with RETURNING, does; executemany only counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

POSTGRES_TYPES = {
    "int": "bigint",
    "real": "double precision",
    "text": "text",
    "bool": "boolean",
    "moment": "timestamptz",
    "json": "jsonb",
}


def relation(connection: BaseDatabaseWrapper, columns: dict[str, str], name: str = "v") -> str:
    """SQL of a FROM item called `name` that reads its rows from one `%s` parameter made by `parameter`.

    `columns` maps a column's name to one of int, real, text, bool, moment, json, in the order of the rows' values.
    """
    if connection.vendor == "postgresql":
        picked = ", ".join(_postgres_column(i, column, kind) for i, (column, kind) in enumerate(columns.items()))
        return f"(SELECT {picked} FROM jsonb_array_elements(%s::jsonb)) AS {name}"
    picked = ", ".join(f"json_extract(value, '$[{i}]') AS {column}" for i, column in enumerate(columns))
    return f"(SELECT {picked} FROM json_each(%s)) AS {name}"


def parameter(connection: BaseDatabaseWrapper, columns: dict[str, str], rows: Iterable[Sequence[Any]]) -> str:
    """The rows as the JSON text that `relation` reads. Moments are aware; json values are given as Python values."""
    kinds = list(columns.values())
    return json.dumps([[_value(connection, kind, cell) for kind, cell in zip(kinds, row, strict=True)] for row in rows])


def moment(connection: BaseDatabaseWrapper, at: datetime | None) -> str | None:
    """A moment in the text form in which this database stores or reads it."""
    if at is None:
        return None
    if connection.vendor == "postgresql":
        return at.isoformat()
    return str(at.astimezone(UTC).replace(tzinfo=None))


def read_moment(cell: datetime) -> datetime:
    """A moment as a statement's RETURNING gives it: SQLite's has no zone, and means UTC."""
    return cell.replace(tzinfo=UTC) if cell.tzinfo is None else cell.astimezone(UTC)


def _postgres_column(position: int, column: str, kind: str) -> str:
    if kind == "json":
        return f"value->{position} AS {column}"
    return f"(value->>{position})::{POSTGRES_TYPES[kind]} AS {column}"


def _value(connection: BaseDatabaseWrapper, kind: str, cell: Any) -> Any:
    if kind == "moment":
        return moment(connection, cell)
    if kind == "json" and connection.vendor != "postgresql":
        return json.dumps(cell)
    # PostgreSQL cannot store NUL in text or JSON: one such byte in an error message would refuse a whole commit.
    return cell.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(cell, str) else cell
