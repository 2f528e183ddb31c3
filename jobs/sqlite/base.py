"""Django's SQLite backend with the settings that Rota needs."""

from django.db.backends.sqlite3 import base


class DatabaseWrapper(base.DatabaseWrapper):
    pass
