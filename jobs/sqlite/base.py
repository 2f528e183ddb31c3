"""Django's SQLite backend with the settings that Rota needs."""

import sqlite3
from typing import Any

from django.db.backends.sqlite3 import base

BUSY_TIMEOUT_SECONDS = 20
PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 10000")


class DatabaseWrapper(base.DatabaseWrapper):
    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        params.setdefault("timeout", BUSY_TIMEOUT_SECONDS)
        self.transaction_mode = "IMMEDIATE"
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> sqlite3.Connection:
        connection = super().get_new_connection(conn_params)
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        return connection
