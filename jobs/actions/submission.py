"""From what a form, the API or admin gives to a definition that can be stored, or to all that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from jobs.actions.bodies import BODIES, read_body, read_environment
from jobs.actions.callables import read_place, refuse_what_is_shared
from jobs.actions.capacity import Capacity
from jobs.actions.definition import default_retries
from jobs.actions.grants import read_secrets
from jobs.actions.keeping import KEEPING_FIELDS, read_keeping
from jobs.actions.limiting import (
    LIMITING_FIELDS,
    LONGEST_NAME,
    MOST_FAILURES,
    MOST_RUNNING,
    read_exit_codes,
    read_rates,
)
from jobs.actions.packages import read_packages
from jobs.actions.parameters import PARAMETER_FIELDS, read_parameters, refuse_lacking
from jobs.actions.reading import Reader, shown
from jobs.actions.running import read_run_options
from jobs.actions.timing import TIMING_FIELDS, read_schedule
from jobs.actions.unknown import refuse_unknown
from jobs.actions.upstreams import UPSTREAM_FIELDS, UPSTREAM_RULES, read_not_before, read_upstreams
from jobs.core.policies import UpstreamRule
from jobs.core.records import Priority
from jobs.core.running import RUN_FIELDS
from jobs.store.specs import JobSpec

FIELDS = (
    "name", "description", "kind", *BODIES, "python_version", "requirements", "environment", "secrets",
    "cpu_cores_required", "memory_mb_required", "timeout_seconds", "kill_grace_seconds", *TIMING_FIELDS, "max_retries",
    "retry_delay_seconds", "retry_max_delay_seconds", "retry_jitter", "priority", "tags", *UPSTREAM_FIELDS,
    *RUN_FIELDS, "keep_workspace", *KEEPING_FIELDS, "notify_email", "notify_webhook", "created_by",
    *LIMITING_FIELDS, *PARAMETER_FIELDS,
)  # fmt: skip

MOST_RETRIES = 1000
MOST_TAGS, LONGEST_TAG = 50, 50
MOST_CORES = 32_767  # what the column holds
MOST_MEMORY_MB = 2_147_483_647
PRIORITIES = {priority.name.lower(): priority.value for priority in Priority}


def read_job(
    raw: Mapping[str, Any], *, capacity: Capacity, now: datetime, before: JobSpec | None = None, lenient: bool = True
) -> JobSpec:
    """`raw` maps the API's names (FIELDS) to values as JSON has them; null is as good as not given.

    `before` is what an edit edits: what it leaves alone may be what a new job could not have, such as a moment in the
    past. `lenient`: as for `read_schedule`. Who made the job is not asked: `created_by` may be given, and the server
    knows better. Raises InvalidInput.
    """
    reader = Reader(raw)
    refuse_unknown(reader, FIELDS)
    kind, body = read_body(reader)
    place = read_place(reader, kind, body, before)
    upstreams = read_upstreams(reader)
    parameters, values = read_parameters(reader, kind, body, before)
    environment = read_environment(reader, before.environment if before else {})
    spec = JobSpec(
        name=_read_name(reader),
        kind=kind,
        body=body,
        execution_model=place.model,
        description=reader.text("description", longest=10_000, lines=True),
        parameters=parameters,
        parameter_values=values,
        environment=environment,
        secrets=read_secrets(reader, environment),
        cores=_read_cores(reader, capacity, place.least_cores),
        memory_mb=_read_memory(reader, capacity),
        timeout_seconds=reader.seconds("timeout_seconds", None, zero=False),
        kill_grace_seconds=reader.seconds("kill_grace_seconds", 10.0),
        priority=_read_priority(reader),
        upstreams=upstreams,
        upstream_rule=reader.choice("upstream_rule", UpstreamRule.ALL_SUCCESS.value, UPSTREAM_RULES),
        not_before=read_not_before(reader),
        run=read_run_options(reader),
        keep_workspace=reader.flag("keep_workspace", None),
        tags=reader.texts("tags", most=MOST_TAGS, longest=LONGEST_TAG),
        notify_email=_read_addresses(reader),
        notify_webhook=_read_webhook(reader),
        schedule=read_schedule(reader, now=now, before=before, lenient=lenient),
        **read_packages(reader, kind, body),
        **_read_retries(reader, waits=bool(upstreams)),
        **read_keeping(reader),
        **_read_limiting(reader, before.rates if before else ()),
    )
    refuse_lacking(reader, spec)
    if place.shared:
        refuse_what_is_shared(reader, spec)
    reader.check()
    return spec


def _read_retries(reader: Reader, *, waits: bool) -> dict[str, Any]:
    """What becomes of failures, by the names of a JobSpec."""
    delay, longest_delay = _read_delays(reader)
    only_codes, never_codes = read_exit_codes(reader)
    usual = default_retries(reader.raw.get("schedule_type"), waits=waits)
    return {
        "max_retries": reader.whole("max_retries", usual, lowest=0, highest=MOST_RETRIES),
        "retry_delay_seconds": delay,
        "retry_max_delay_seconds": longest_delay,
        "retry_jitter": reader.flag("retry_jitter", True),
        "retry_only_exit_codes": only_codes,
        "retry_never_exit_codes": never_codes,
        "pause_after_failures": reader.whole("pause_after_failures", None, lowest=1, highest=MOST_FAILURES),
    }


def _read_limiting(reader: Reader, kept_rates: Sequence[str]) -> dict[str, Any]:
    """Deadlines, limits and whose share it takes, by the names of a JobSpec."""
    return {
        "tenant": reader.text("tenant", longest=LONGEST_NAME),
        "deadline_seconds": reader.seconds("deadline_seconds", None, zero=False),
        "start_deadline_seconds": reader.seconds("start_deadline_seconds", None, zero=False),
        "max_running": reader.whole("max_running", None, lowest=1, highest=MOST_RUNNING),
        "rates": read_rates(reader, kept_rates),
    }


def _read_name(reader: Reader) -> str:
    count = len(reader.problems)
    name = reader.text("name", longest=200)
    if not name and len(reader.problems) == count:
        reader.refuse("name", "1 to 200 characters", "A job needs a name of 1 to 200 characters; give one.")
    return name


def _read_cores(reader: Reader, capacity: Capacity, least: int) -> int:
    cores = reader.whole("cpu_cores_required", least, lowest=least, highest=MOST_CORES)
    if cores > capacity.cores:
        sentence = (
            f"cpu_cores_required is {cores}, but no node can ever give more than {capacity.cores} "
            f"({capacity.cores_of}); ask for {capacity.cores} or fewer."
        )
        reader.refuse("cpu_cores_required", f"{least} to {capacity.cores}", sentence)
    return cores


def _read_memory(reader: Reader, capacity: Capacity) -> int:
    memory = reader.whole("memory_mb_required", 0, lowest=0, highest=MOST_MEMORY_MB)
    if capacity.memory_mb is not None and memory > capacity.memory_mb:
        sentence = (
            f"memory_mb_required is {memory}, but no node has more than {capacity.memory_mb} MB "
            f"({capacity.memory_of}); ask for {capacity.memory_mb} or less."
        )
        reader.refuse("memory_mb_required", f"0 to {capacity.memory_mb}", sentence)
    return memory


def _read_priority(reader: Reader) -> int:
    given = reader.raw.get("priority")
    if isinstance(given, str) and given.strip().lower() in PRIORITIES:
        return PRIORITIES[given.strip().lower()]
    if isinstance(given, int) and not isinstance(given, bool) and given in PRIORITIES.values():
        return given
    if given is not None:
        reader.expected("priority", "0 to 3, or low, medium, high, critical")
    return Priority.MEDIUM.value


def _read_delays(reader: Reader) -> tuple[float, float]:
    """The first delay before a retry, and the cap on those that follow."""
    count = len(reader.problems)
    delay = reader.seconds("retry_delay_seconds", 60.0)
    longest = reader.seconds("retry_max_delay_seconds", max(3600.0, delay))
    if longest < delay and len(reader.problems) == count:
        sentence = f"retry_max_delay_seconds is {longest:g}, less than retry_delay_seconds ({delay:g}); raise it."
        reader.refuse("retry_max_delay_seconds", f"{delay:g} or more", sentence)
    return delay, longest


def _read_addresses(reader: Reader) -> str:
    """Addresses separated by commas."""
    expected = "e-mail addresses separated by commas"
    addresses = [part.strip() for part in reader.text("notify_email", longest=1000).split(",") if part.strip()]
    for address in addresses:
        try:
            validate_email(address)
        except ValidationError:
            reader.refuse("notify_email", expected, f"{shown(address)} is no e-mail address; expected {expected}.")
    return ", ".join(addresses)


def _read_webhook(reader: Reader) -> str:
    url = reader.text("notify_webhook", longest=1000)
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and " " not in url
    except ValueError:
        fine = False
    if url and not fine:
        reader.expected("notify_webhook", "a URL that begins with http:// or https://")
    return url
