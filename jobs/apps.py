from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = "Scheduler"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        post_migrate.connect(install_guards, sender=self)
        from jobs.callables.discovery import discover

        discover()


def install_guards(using: str, **_: Any) -> None:
    """After each migration of this app; see `jobs.store.guards` for why not in a migration."""
    from jobs.store import guards

    guards.install(connections[using])
