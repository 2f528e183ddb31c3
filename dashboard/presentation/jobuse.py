"""What a job reserves against what it used, and how long its last runs took."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from urllib.parse import urlsplit

from dashboard.presentation import amounts
from dashboard.presentation.packages import packages_of
from dashboard.presentation.parameters import Taken, in_words
from dashboard.presentation.runs import HEIGHT, LEAST, RunMark, Strip, strip_of
from jobs.core.running import USUAL_RUN, options_of
from jobs.core.states import Status
from jobs.models import Attempt, Job
from jobs.store.secrets import uses_of
from jobs.store.specs import SecretUse
from jobs.telemetry.memory import MEGABYTE

TREND = 30
# The processor time of a shorter run is mostly that of starting its interpreter.
LEAST_SECONDS = 0.2
# Advice on fewer runs would be a guess.
ENOUGH_RUNS = 5
LONGEST_COMMAND = 120


@dataclass(frozen=True, slots=True)
class Trend:
    """The last runs as bars, and what they say together; durations in seconds, None where none of them ended.

    `usual_y`: where the usual duration lies in the drawing, from the top.
    """

    strip: Strip
    usual_y: float | None
    runs: int
    good: int
    ended: int
    usual: float | None
    longest: float | None


@dataclass(frozen=True, slots=True)
class JobNeeds:
    """What it reserves. `used` is the most cores that one attempt kept busy on average, `peak` bytes of memory."""

    cores: int
    memory_mb: int
    timeout_seconds: float | None
    max_retries: int
    retry_delay_seconds: float
    retry_max_delay_seconds: float
    kill_grace_seconds: float
    told: tuple[str, ...]
    priority: str
    variables: tuple[str, ...]
    secrets: tuple[SecretUse, ...]
    parameters: tuple[Taken, ...]
    packages: tuple[str, ...]
    created_at: datetime
    owner: str
    limits: tuple[str, ...]
    run: tuple[str, ...]
    kept: tuple[str, ...]
    attempts: int
    used: float | None
    peak: int | None

    @property
    def cores_sentence(self) -> str:
        """Such as "asks 2 cores, used 1.1 at most in 30 attempts"; empty before one was measured."""
        if self.used is None:
            return ""
        tries = f"in {self.attempts} attempts" if self.attempts > 1 else "in its one attempt"
        return f"asks {_cores(self.cores)}, used {self.used:.1f} at most {tries}"

    @property
    def advice(self) -> str:
        """What would do, where it reserves whole cores that no run used."""
        # By the number that is shown: a moment of a second process does not need a second core.
        enough = max(1, math.ceil(round(self.used, 1))) if self.used is not None else self.cores
        if self.attempts < ENOUGH_RUNS or enough >= self.cores:
            return ""
        return f"{_cores(enough)} would do, and others could start sooner"

    @property
    def peak_words(self) -> str:
        return "" if self.peak is None else amounts.size(self.peak)

    @property
    def over_memory(self) -> bool:
        return bool(self.memory_mb) and self.peak is not None and self.peak > self.memory_mb * MEGABYTE


def trend_of(newest_first: Sequence[RunMark]) -> Trend | None:
    strip = strip_of(newest_first, TREND)
    if strip is None:
        return None
    runs = newest_first[:TREND]
    ended = [run for run in runs if run.ended]
    lasted = [run.seconds for run in runs if run.seconds is not None]
    usual, longest = median(lasted) if lasted else None, max(lasted, default=0.0)
    return Trend(
        strip=strip,
        usual_y=height_of(usual, longest) if usual is not None and len(lasted) > 1 else None,
        runs=len(runs),
        good=sum(run.look.word == Status.SUCCESS for run in ended),
        ended=len(ended),
        usual=usual,
        longest=max(lasted, default=None),
    )


def height_of(seconds: float, longest: float) -> float:
    """Where the top of a bar of so many seconds is, in the units of a Strip from its top."""
    share = seconds / longest if longest > 0 else 0.0
    return round(HEIGHT - LEAST - (HEIGHT - LEAST) * share, 1)


def needs_of(job: Job, instance_ids: Sequence[int]) -> JobNeeds:
    """With what the attempts of these instances used. One query."""
    ended = Attempt.objects.filter(instance_id__in=instance_ids, status="ended")
    measured = list(ended.values_list("cpu_seconds", "duration_seconds", "peak_memory_bytes"))
    used = [cpu / took for cpu, took, _ in measured if cpu is not None and took and took >= LEAST_SECONDS]
    return JobNeeds(
        cores=job.cores,
        memory_mb=job.memory_mb,
        timeout_seconds=job.timeout_seconds,
        max_retries=job.max_retries,
        retry_delay_seconds=job.retry_delay_seconds,
        retry_max_delay_seconds=job.retry_max_delay_seconds,
        kill_grace_seconds=job.kill_grace_seconds,
        told=told_of(job),
        priority=str(Job.Priority(job.priority).label),
        variables=tuple(job.environment),
        secrets=uses_of(job),
        parameters=in_words(job),
        packages=packages_of(job),
        created_at=job.created_at,
        owner=job.created_by.get_username() if job.created_by else "",
        limits=limits_of(job),
        run=run_of(job),
        kept=kept_of(job),
        attempts=len(used),
        used=max(used, default=None),
        peak=max((peak for _, _, peak in measured if peak is not None), default=None),
    )


def limits_of(job: Job) -> tuple[str, ...]:
    """What holds its starts back beside cores, and what ends or pauses it, in short sentences."""
    return tuple(
        sentence
        for sentence in (
            f"at most {job.max_running} at once" if job.max_running else "",
            f"takes from {', '.join(job.rates)}" if job.rates else "",
            f"skipped if not started {amounts.duration(job.start_deadline_seconds)} after it was due"
            if job.start_deadline_seconds
            else "",
            f"should be done {amounts.duration(job.deadline_seconds)} after it was due" if job.deadline_seconds else "",
            f"paused after {job.pause_after_failures} failures in a row" if job.pause_after_failures else "",
            f"retried only after exit code {_codes(job.retry_only_exit_codes)}" if job.retry_only_exit_codes else "",
            f"never retried after exit code {_codes(job.retry_never_exit_codes)}" if job.retry_never_exit_codes else "",
            f"tenant {job.tenant}" if job.tenant else "",
        )
        if sentence
    )


def kept_of(job: Job) -> tuple[str, ...]:
    """How long its runs are kept where that is its own, in short sentences."""
    most = f"the newest {job.keep_instances:,}" if job.keep_instances is not None else ""
    return tuple(filter(None, (_days("successes", job.keep_days), _days("others", job.keep_failed_days), most)))


def _days(which: str, days: int | None) -> str:
    if days is None:
        return ""
    return f"{which} for {days:,} day{'s' if days > 1 else ''}" if days else f"{which} for ever"


def run_of(job: Job) -> tuple[str, ...]:
    """How its processes are run, in short sentences: what differs from the usual."""
    run = options_of(job)
    ends = "" if run.cleanup_after == USUAL_RUN.cleanup_after else f" after {', '.join(run.cleanup_after)}"
    limit = amounts.duration(run.cleanup_timeout_seconds)
    return tuple(
        sentence
        for sentence in (
            f"in {run.working_directory}" if run.working_directory else "",
            f"as user {run.run_as}" if run.run_as else "",
            f"umask {run.umask}" if run.umask != USUAL_RUN.umask else "",
            f"nice {run.nice}" if run.nice else "",
            f"disk priority {run.io_priority}" if run.io_priority != USUAL_RUN.io_priority else "",
            f"starts {run.start}" if run.start != USUAL_RUN.start else "",
            f"at most {run.max_processes:,} processes" if run.max_processes else "",
            f"no file above {run.max_file_mb:,} MB" if run.max_file_mb else "",
            f"cleaned up{ends}, within {limit}, by {_short(run.cleanup_command)}" if run.cleanup_command else "",
        )
        if sentence
    )


def _short(command: str) -> str:
    first = command.partition("\n")[0]
    return first if first == command and len(first) <= LONGEST_COMMAND else f"{first[:LONGEST_COMMAND]}…"


def _codes(codes: list[int]) -> str:
    return " or ".join(map(str, codes))


def told_of(job: Job) -> tuple[str, ...]:
    """Who is told when an instance fails for good. Of a webhook only where it is: its path may be its secret."""
    addresses = [address.strip() for address in job.notify_email.split(",") if address.strip()]
    return (*addresses, *([urlsplit(job.notify_webhook).netloc.rpartition("@")[2]] if job.notify_webhook else []))


def _cores(count: int) -> str:
    return f"{count} core{'' if count == 1 else 's'}"
