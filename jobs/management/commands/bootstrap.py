"""Makes a data folder ready for the service; what is there already is kept."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import BaseCommand, call_command
from django.db import connection, transaction

from jobs.examples import loading
from scheduler_site import preflight
from scheduler_site.collected import collect_static_files

ADVISORY_LOCK = 0x526F7461  # "Rota"


class Command(BaseCommand):
    help = "Migrate, collect static files, and at the first start make an admin and load the examples."
    requires_system_checks: tuple[str, ...] = ()

    def handle(self, *_args: Any, **_options: Any) -> None:
        preflight.check_data_folder(settings.DATA_DIR)
        # Held while this works: a running service must not have its tables changed below it.
        with preflight.hold_service_lock(settings.DATA_DIR / "service.lock"):
            if not settings.DEBUG:
                collect_static_files()
            preflight.check_database()
            with one_machine_at_a_time():
                self.prepare_database()

    def prepare_database(self) -> None:
        if preflight.has_pending_migrations():
            call_command("migrate", interactive=False, verbosity=0)
        password = first_start()
        if password:
            self.stdout.write(
                "Made the user `admin` with the password\n\n"
                f"    {password}\n\n"
                "It is shown only this once. Lost: .venv/bin/python manage.py resetpassword admin"
            )


@contextmanager
def one_machine_at_a_time() -> Iterator[None]:
    """On PostgreSQL, machines that start at once wait for each other; an SQLite file has one machine anyway."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [ADVISORY_LOCK])


def first_start() -> str:
    """The password of the admin that was made, together with the examples or not at all; empty if there are users."""
    users = get_user_model().objects
    with transaction.atomic():
        if users.exists():
            return ""
        password = secrets.token_urlsafe(12)
        users.create_superuser("admin", password=password)
        loading.load()
    return password
