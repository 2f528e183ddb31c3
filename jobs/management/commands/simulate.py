"""What will run, wait and be skipped in the next days, if every run succeeds and takes as long as usual."""

import argparse
import json
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError
from django.utils import timezone

from jobs import forecast
from jobs.budget import Budget
from jobs.core.foresight import span
from jobs.core.present import GUESS_SECONDS
from jobs.store import present
from scheduler_site import preflight

MOST_LINES = 20
WITHIN_SECONDS = 300.0


class Command(BaseCommand):
    help = "Simulate the next days from what is stored now. Reads only; the service may run beside it."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--days", type=float, default=7.0)
        parser.add_argument("--json", action="store_true", help="everything as JSON, instead of a table")
        parser.add_argument("--job", action="append", default=[], metavar="NAME", help="show this job only; repeatable")
        parser.add_argument("--guess", type=float, default=GUESS_SECONDS, metavar="SECONDS")
        parser.add_argument(
            "--within",
            type=float,
            default=WITHIN_SECONDS,
            metavar="SECONDS",
            help=f"stop after so long ({WITHIN_SECONDS:g}) and say how far it got",
        )
        parser.add_argument("--cores", type=int, help="on a machine with so many, instead of what the nodes have")

    def handle(self, *_args: Any, days: float, guess: float, within: float, cores: int | None, **options: Any) -> None:
        budget = Budget(within)
        if not 0 < days <= forecast.LONGEST_DAYS:
            raise CommandError(f"--days is {days:g}, expected above 0, up to {forecast.LONGEST_DAYS:g}.")
        if not 0 < guess <= 86_400:
            raise CommandError(f"--guess is {guess:g}, expected seconds above 0, up to 86,400.")
        if not 0 < within <= 86_400:
            raise CommandError(f"--within is {within:g}, expected seconds above 0, up to 86,400.")
        if cores is not None and not 1 <= cores <= 4096:
            raise CommandError(f"--cores is {cores}, expected 1 to 4,096.")
        preflight.check_data_folder(settings.DATA_DIR)
        preflight.check_migrated()
        try:
            found = present.load(timezone.now(), days=days, cores=cores)
        except present.NoNodeYet as error:
            raise CommandError(str(error)) from error
        unknown = [name for name in options["job"] if found.job_named(name) is None]
        if unknown:
            raise CommandError(f"There is no job {unknown[0]!r} that will run in this time.")
        shape = forecast.forecast(found, days=days, guess_seconds=guess, budget=budget, job_names=options["job"])
        if options["json"]:
            self.stdout.write(json.dumps(shape, indent=2))
        else:
            self.stdout.write("\n".join(_table(shape)))


def _table(shape: dict[str, Any]) -> list[str]:
    totals, use = shape["totals"], shape["core_use"]
    counts = ", ".join(f"{totals[what]:,} {what}" for what in ("fires", "starts", "waits", "skips"))
    peak = f"{use['peak']} at most (at {_moment(use['peak_at'])})"
    used = f"{use['mean']:.1f} of {use['slots']} slots in use on average, {peak}"
    lines = [f"From {_moment(shape['from'])} to {_moment(shape['reached'])}:", f"{counts}; {used}."]
    lines += [shape["cut_because"], ""] if shape["cut"] else [""]
    lines += [f"! {one['sentence']}" for one in shape["warnings"]] or ["No warnings."]
    head = (
        f"{'job':<30} {'cores':>5} {'takes':>9} {'from':>10} {'starts':>7} {'mean wait':>9} {'longest':>9} {'skips':>6}"
    )
    lines += ["", head]
    for job in shape["jobs"][:MOST_LINES]:
        lines.append(
            f"{job['job'][:30]:<30} {job['cores']:>5} {span(job['duration_seconds']):>9} {job['duration_from']:>10} "
            f"{job['starts']:>7,} {span(job['mean_wait_seconds']):>9} {span(job['longest_wait_seconds']):>9} "
            f"{sum(job['skips'].values()):>6,}"
        )
    more = len(shape["jobs"]) - MOST_LINES + shape["jobs_left_out"]
    if more > 0:
        lines.append(f"and {more:,} more jobs, which wait less; --json has more, --job NAME has one.")
    return [*lines, "", *shape["notes"]]


def _moment(text: str) -> str:
    """Such as "2026-12-02 20:32 UTC"."""
    return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M} UTC"
