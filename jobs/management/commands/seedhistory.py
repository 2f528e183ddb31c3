"""History made up in bulk, for seeing how Rota does with a lot of it."""

import argparse
import time
from contextlib import nullcontext
from random import Random
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError
from django.db import connection
from django.utils import timezone

from jobs import history_seed
from scheduler_site import preflight

MOST = {"instances": 10_000_000, "jobs": 100_000, "days": 3_650}


class Command(BaseCommand):
    help = (
        "Fill the database with made-up jobs and ended instances, beside what is there. They stay: take a data folder "
        "of their own. On SQLite the service must be stopped."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--instances", type=int, default=100_000)
        parser.add_argument("--jobs", type=int, default=500)
        parser.add_argument("--days", type=int, default=60, help="how far back the instances reach")
        parser.add_argument("--seed", type=int, default=1, help="another number makes another history")

    def handle(self, *_args: Any, instances: int, jobs: int, days: int, seed: int, **_options: Any) -> None:
        for name, given in (("instances", instances), ("jobs", jobs), ("days", days)):
            if not 1 <= given <= MOST[name]:
                raise CommandError(f"--{name} is {given}, expected 1 to {MOST[name]:,}.")
        preflight.check_data_folder(settings.DATA_DIR)
        # One writer at a time: on SQLite each portion would hold up the engine, and each start it makes.
        alone = connection.vendor == "sqlite"
        with preflight.hold_service_lock(settings.DATA_DIR / "service.lock") if alone else nullcontext():
            preflight.check_migrated()
            began = time.monotonic()
            random = Random(seed)  # noqa: S311 - plausible is enough, nothing of it is secret
            for done in history_seed.seed(instances=instances, jobs=jobs, days=days, now=timezone.now(), random=random):
                if done % 20_000 == 0 or done == instances:
                    self.stdout.write(f"{done:,} of {instances:,} instances, {time.monotonic() - began:.0f} s")
