"""A new password for a lost one."""

import argparse
import secrets
from typing import Any

from axes.utils import reset
from django.contrib.auth import get_user_model
from django.core.management import BaseCommand, CommandError

from scheduler_site import preflight


class Command(BaseCommand):
    help = "Give USER a new random password, print it, and let them try again if they were locked out."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("user", metavar="USER")

    def handle(self, *_args: Any, user: str, **_options: Any) -> None:
        preflight.check_migrated()
        users = get_user_model()
        try:
            found = users.objects.get_by_natural_key(user)
        except users.DoesNotExist:
            known = ", ".join(sorted(users.objects.values_list(users.USERNAME_FIELD, flat=True)[:20])) or "none"
            raise CommandError(f"There is no user {user!r}. Known users: {known}.") from None
        password = secrets.token_urlsafe(12)
        found.set_password(password)
        found.save(update_fields=["password"])
        reset(username=user)
        self.stdout.write(password)
