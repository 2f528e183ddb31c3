"""What is kept no longer, removed now or only counted."""

import argparse
from datetime import datetime
from typing import Any

from django.core.management import BaseCommand
from django.utils import timezone

from jobs.actions.keeping import keep_of_site
from jobs.models import Job
from jobs.service.retention import sweep_of
from jobs.store import pruning
from scheduler_site import preflight


class Command(BaseCommand):
    help = "Remove now the runs that are kept no longer, as the service does each hour (docs/running.md)."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="remove nothing, and say how many would go")

    def handle(self, *_args: Any, dry_run: bool, **_options: Any) -> None:
        preflight.check_migrated()
        now = timezone.now()
        if dry_run:
            self._count(now)
            return
        removed = sweep_of("manage.py prune", bool).prune_now(now)
        self.stdout.write(f"Removed: {removed['instances']:,} runs, {removed['events']:,} events.")

    def _count(self, now: datetime) -> None:
        names = dict(Job.objects.values_list("pk", "name"))
        total = 0
        for job_id, keep in pruning.keeps(keep_of_site()):
            count = sum(len(pruning.free_of(ids)) for ids in pruning.gone_portions(job_id, keep, now))
            total += count
            if count:
                self.stdout.write(f"{count:>10,}  {names.get(job_id, job_id)}")
        some, none = f"{total:>10,}  in all would be removed. Nothing was.", "Nothing would be removed."
        self.stdout.write(some if total else f"{none} What ended within the last hour is kept.")
