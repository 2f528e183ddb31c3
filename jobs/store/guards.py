"""Rules that the database itself refuses to break, whoever writes: triggers made from the table of legal moves.

They are made again after every migration, because Django's way to alter a table on SQLite (copy and rename) drops them.
"""

from __future__ import annotations

from django.db.backends.base.base import BaseDatabaseWrapper

from jobs.core.states import MOVES

_LEGAL = ", ".join(sorted(f"'{a}>{b}'" for a, targets in MOVES.items() for b in targets))

# A clock was set back behind it: it may be given up as a whole, and only if it is kept as the former mark.
_KEPT = (
    "NOT (NEW.last_logical_at IS NULL AND NEW.watched_from < OLD.last_logical_at "
    "AND COALESCE(NEW.former_mark_at >= OLD.last_logical_at, false))"
)

# name, table, column, condition under which an update is refused, sentence
RULES = [
    (
        "instance_moves_legally",
        "jobs_instance",
        "status",
        f"OLD.status <> NEW.status AND OLD.status || '>' || NEW.status NOT IN ({_LEGAL})",
        "this move of an instance is not in the table of legal moves",
    ),
    (
        "attempt_ends_once",
        "jobs_attempt",
        "status",
        "OLD.status = 'ended'",
        "an attempt that has ended keeps its outcome",
    ),
    (
        "schedule_only_rises",
        "jobs_schedule",
        "last_logical_at",
        f"OLD.last_logical_at IS NOT NULL AND COALESCE(NEW.last_logical_at < OLD.last_logical_at, true) AND {_KEPT}",
        "the last logical date of a schedule only rises: a fire would happen twice",
    ),
]


def install(connection: BaseDatabaseWrapper) -> None:
    """Make or remake the triggers on this connection's database."""
    statements = _postgresql if connection.vendor == "postgresql" else _sqlite
    with connection.cursor() as cursor:
        for rule in RULES:
            for statement in statements(*rule):
                cursor.execute(statement)


def _sqlite(name: str, table: str, column: str, refused: str, sentence: str) -> list[str]:
    trigger = f"""
        CREATE TRIGGER {name} BEFORE UPDATE OF {column} ON {table} WHEN {refused}
        BEGIN SELECT RAISE(ABORT, '{sentence}'); END
    """
    return [f"DROP TRIGGER IF EXISTS {name}", trigger]


def _postgresql(name: str, table: str, column: str, refused: str, sentence: str) -> list[str]:
    function = f"""
        CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '{sentence}' USING ERRCODE = 'check_violation'; END $$
    """
    trigger = f"""
        CREATE TRIGGER {name} BEFORE UPDATE OF {column} ON {table}
        FOR EACH ROW WHEN ({refused}) EXECUTE FUNCTION {name}()
    """
    return [function, f"DROP TRIGGER IF EXISTS {name} ON {table}", trigger]
