"""Encrypts all secrets anew, with the first key of ROTA_SECRETS_KEYS or a new one of the data folder."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from jobs.store import vault
from scheduler_site import preflight


class Command(BaseCommand):
    help = "Encrypt all secrets anew: with the first of ROTA_SECRETS_KEYS, else with a new key in the data folder."

    def handle(self, *_args: Any, **_options: Any) -> None:
        preflight.check_migrated()
        try:
            count, left = vault.rotate()
        except vault.UnusableKeysError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{count} secret{' is' if count == 1 else 's are'} encrypted with {_which()}.")
        if left:
            raise CommandError(
                f"{', '.join(left)} cannot be read with any key that is here, and stay as they are; give "
                "ROTA_SECRETS_KEYS the key that they were stored with and do this again, or store their values again."
            )


def _which() -> str:
    return "the first key of ROTA_SECRETS_KEYS" if settings.SECRETS_KEYS else "a new key"
