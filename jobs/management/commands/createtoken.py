"""A key with which a program calls the API."""

import argparse
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import BaseCommand, CommandError
from django.utils import timezone

from jobs.api.tokens import make_token
from scheduler_site import preflight

LONGEST_LABEL = 100


class Command(BaseCommand):
    help = "Make an API token for USER and print it, and nothing else. It is shown only this once."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("user", metavar="USER")
        parser.add_argument("--label", default="", help="what it is for, to tell it from others in admin")
        parser.add_argument("--days", type=int, help="how long it is valid; for ever unless given")

    def handle(self, *_args: Any, user: str, label: str, days: int | None, **_options: Any) -> None:
        preflight.check_migrated()
        users = get_user_model()
        try:
            owner = users.objects.get_by_natural_key(user)
        except users.DoesNotExist:
            known = ", ".join(sorted(users.objects.values_list(users.USERNAME_FIELD, flat=True)[:20])) or "none"
            raise CommandError(f"There is no user {user!r}. Known users: {known}.") from None
        if not owner.is_active:
            raise CommandError(f"The user {user!r} is not active, so a token of theirs would open nothing.")
        if days is not None and not 1 <= days <= 36_500:
            raise CommandError(f"--days is {days}, expected 1 to 36500; leave it out for a token without end.")
        if len(label) > LONGEST_LABEL:
            raise CommandError(f"--label has {len(label)} characters, expected at most {LONGEST_LABEL}.")
        now = timezone.now()
        expires_at = None if days is None else now + timedelta(days=days)
        self.stdout.write(make_token(owner, label=label, now=now, expires_at=expires_at))
