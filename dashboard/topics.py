"""What a page may watch: names of topics, who reads them, and which events change them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from dashboard.jobsearch import query_in
from dashboard.presentation.attempts import read_attempt
from dashboard.presentation.backfills import any_runs, read_backfills
from dashboard.presentation.beat import read_beat
from dashboard.presentation.failures import read_failures
from dashboard.presentation.instance import read_instance
from dashboard.presentation.instance_list import read_list_at
from dashboard.presentation.job_list import read_jobs
from dashboard.presentation.jobs import read_job
from dashboard.presentation.limits import read_limits
from dashboard.presentation.node_pages import read_node, read_node_list
from dashboard.presentation.nodes import read_nodes
from dashboard.presentation.operation import is_under_way, read_operation, read_unended
from dashboard.presentation.pulse import read_pulse
from dashboard.presentation.rows import Regions
from dashboard.presentation.schedule_list import read_schedules
from dashboard.presentation.schedules import read_fires
from dashboard.presentation.troubles import read_troubles
from dashboard.presentation.waiting import read_waiting
from dashboard.presentation.workflows import read_workflow
from dashboard.schedulesearch import query_in as schedule_query_in
from jobs.feed import FeedEvent

LOG, LOAD = "log", "load"
LONGEST_LIST = 3000  # characters of the query of a list of instances
LONGEST_QUERY = 2500
_FIRST, _MICROSECOND = datetime.min.replace(tzinfo=UTC), timedelta(microseconds=1)

Touches = Callable[[FeedEvent], bool]


class UnknownTopicError(ValueError):
    """A name that is no topic."""

    def __init__(self, given: str) -> None:
        super().__init__(
            f"{given[:60]!r} is no topic; known are site, overview, load, nodes, node:ID, jobs:QUERY, job:ID, "
            "schedules:QUERY, instances:QUERY, instance:ID, attempt:ID.NUMBER, workflow:ID.BEFORE, backfills:ID, "
            "limits, operations, operation:ID and log:ID"
        )


@dataclass(frozen=True, slots=True)
class Part:
    """Regions that are read together.

    Read again when an event touches them, but not sooner than `pause_seconds` after the last time; and after
    `refresh_seconds` in any case, where time itself changes them and `ages` says that it does.
    """

    read: Callable[[datetime], Regions]
    touched_by: Touches
    pause_seconds: float = 0.1
    refresh_seconds: float | None = None
    ages: Callable[[Regions], bool] = lambda _: True


def parts_of(topic: str) -> tuple[Part, ...]:
    """The parts of a topic of rows. Raises UnknownTopicError."""
    kind, _, argument = topic.partition(":")
    if topic == "site":
        return (Part(read_pulse, _moves, pause_seconds=0.5, refresh_seconds=5.0),)
    if topic == "overview":
        return _OVERVIEW
    if kind == "jobs" and 0 < len(argument) <= LONGEST_QUERY:
        query = query_in(argument)
        pause_seconds = 5.0 if query.is_costly else 1.0
        return (Part(partial(read_jobs, query), _changes_jobs, pause_seconds=pause_seconds),)
    if kind == "schedules" and 0 < len(argument) <= LONGEST_QUERY:
        reader = partial(read_schedules, schedule_query_in(argument))
        return (Part(reader, _fires, pause_seconds=2.0, refresh_seconds=60.0),)
    if topic == "nodes":
        return (Part(read_node_list, _moves, pause_seconds=1.0, refresh_seconds=5.0),)
    if topic == "limits":
        return (Part(read_limits, _moves_or_limits, pause_seconds=1.0, refresh_seconds=5.0),)
    if topic == "operations":
        return (Part(read_unended, _never, refresh_seconds=2.0, ages=is_under_way),)
    if kind == "instances" and argument.isascii() and len(argument) <= LONGEST_LIST:
        return (Part(partial(read_list_at, argument), _lists, pause_seconds=2.0, refresh_seconds=60.0),)
    return _parts_of_one(topic, kind, argument)


def _parts_of_one(topic: str, kind: str, argument: str) -> tuple[Part, ...]:
    """The parts of a topic about one thing, by its number."""
    if kind == "attempt":
        of, _, try_of_it = argument.partition(".")
        instance_id, number = number_in(topic, of), number_in(topic, try_of_it)
        return (Part(partial(read_attempt, instance_id, number), _of_instance(instance_id)),)
    if kind == "workflow":
        of, _, microseconds = argument.partition(".")
        reader = partial(read_workflow, number_in(topic, of), _moment_in(topic, microseconds))
        return (Part(reader, _lists, pause_seconds=2.0),)
    number = number_in(topic, argument)
    if kind == "operation":
        return (Part(partial(read_operation, number), _never, refresh_seconds=1.0, ages=is_under_way),)
    if kind == "backfills":
        reader = partial(read_backfills, number)
        return (Part(reader, _of_job(number), pause_seconds=1.0, refresh_seconds=5.0, ages=any_runs),)
    if kind == "node":
        return (Part(partial(read_node, number), _moves, pause_seconds=0.25, refresh_seconds=5.0),)
    if kind == "job":
        return (Part(partial(read_job, number), _of_job(number), pause_seconds=0.25),)
    if kind == "instance":
        return (Part(partial(read_instance, number), _of_instance(number), refresh_seconds=2.0, ages=_explains),)
    raise UnknownTopicError(topic)


def workflow_topic(job_id: int, before: datetime | None) -> str:
    """`before`: of the page with the dates before it."""
    return f"workflow:{job_id}.{(before - _FIRST) // _MICROSECOND if before else 0}"


def has_rows(topic: str) -> bool:
    """Whether the topic is one of rows, and not a log or samples."""
    return topic != LOAD and not is_log(topic)


def is_log(topic: str) -> bool:
    return topic.startswith(f"{LOG}:")


def number_in(topic: str, argument: str) -> int:
    """The number after the colon. Raises UnknownTopicError."""
    if not argument.isdecimal() or not argument.isascii() or len(argument) > 18:
        raise UnknownTopicError(topic)
    return int(argument)


def _moment_in(topic: str, argument: str) -> datetime | None:
    microseconds = number_in(topic, argument)
    try:
        return _FIRST + microseconds * _MICROSECOND if microseconds else None
    except OverflowError:
        raise UnknownTopicError(topic) from None


def _moves_or_limits(event: FeedEvent) -> bool:
    return _moves(event) or event.kind == "limit.changed"


def _moves(event: FeedEvent) -> bool:
    return event.kind.startswith(("instance.", "node.", "attempt.", "job.deleted"))


def _runs(event: FeedEvent) -> bool:
    return event.kind not in _WAITING_ONLY


def _waits(event: FeedEvent) -> bool:
    return event.kind != "attempt.began"


def _plans(event: FeedEvent) -> bool:
    return event.kind.startswith(("schedule.", "job.")) or event.kind in _PLANNED or event.from_status == "pending"


def _ends(event: FeedEvent) -> bool:
    return event.to_status in ("failed", "timeout") or event.kind == "job.deleted"


def _disturbs(event: FeedEvent) -> bool:
    return event.kind.startswith(("schedule.", "job.", "node.", "clock.")) or event.to_status == "running"


def _changes_jobs(event: FeedEvent) -> bool:
    return event.kind != "instance.held"


def _lists(event: FeedEvent) -> bool:
    return event.kind.startswith(("instance.", "job.")) and event.kind != "instance.held"


def _fires(event: FeedEvent) -> bool:
    """What moves a schedule or shows in it: fires, skips, edits, and how an instance is."""
    return event.kind.startswith(("schedule.", "job.", "instance.")) and event.kind != "instance.held"


def _never(_: FeedEvent) -> bool:
    """What tells no event: it is read again by the clock."""
    return False


def _of_job(job_id: int) -> Touches:
    return lambda event: event.job_id == job_id and event.kind != "instance.held"


def _of_instance(instance_id: int) -> Touches:
    # A deleted job takes it along, and of its thread that goes on only the node tells.
    return lambda event: event.instance_id == instance_id or event.kind == "job.deleted" or _tells_of_threads(event)


def _tells_of_threads(event: FeedEvent) -> bool:
    return event.kind in ("node.started", "node.stopped") or "abandoned" in event.data


def _explains(regions: Regions) -> bool:
    """Whether a reason to wait is shown, which what others do changes, or a run, which tells how far it is: no event of
    this instance does.
    """
    return any(row.waits or row.runs for _, row in regions["head"])


_PLANNED = ("instance.queued", "instance.pending")
_WAITING_ONLY = ("instance.pending", "instance.queued", "instance.held", "schedule.skipped", "schedule.flagged")

_OVERVIEW = (
    Part(read_nodes, _runs, refresh_seconds=5.0),
    Part(read_waiting, _waits, pause_seconds=0.5, refresh_seconds=5.0),
    Part(read_fires, _plans, pause_seconds=1.0, refresh_seconds=30.0),
    Part(read_failures, _ends, pause_seconds=1.0, refresh_seconds=60.0),
    Part(read_troubles, _disturbs, pause_seconds=2.0, refresh_seconds=5.0),
    Part(read_beat, _never, refresh_seconds=5.0),
)
