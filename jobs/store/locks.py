"""Rows that several transactions want are locked by all in one order: jobs, schedules, instances, each by id.

Where two still wait for each other, as through an index or a row that a statement came by, PostgreSQL refuses one of
them, and that is done once more. On SQLite a transaction that writes has the database to itself.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import OperationalError, connection
from django.db.models import Q

from jobs.core.decisions import Decision, Dismiss, Finish, Fire, Flag, Pause, Queue, Rearm, Wait, Withdraw
from jobs.models import Instance, Job, Schedule

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)

# At once, it could take the very row that the other has just been let go for.
PAUSE_SECONDS = 0.05

DEADLOCK, NOT_SERIALIZABLE = "40P01", "40001"


def take(decisions: Sequence[Decision]) -> None:
    """All that a commit of these waits for. Not what it starts: what another claims of that is left to it.

    A statement locks its rows in their order; what several statements touch is locked here.
    """
    if connection.vendor != "postgresql":
        return
    pauses = {d.job_id for d in decisions if isinstance(d, Pause)}
    ends = {d.job_id for d in decisions if isinstance(d, Finish) and d.usual_seconds is not None}
    ends |= {d.job_id for d in decisions if isinstance(d, Finish | Dismiss) and d.failures is not None}
    if len(pauses | ends) > 1:
        list(Job.objects.select_for_update(no_key=True).filter(pk__in=pauses | ends).order_by("pk").values_list("pk"))
    schedules = {type(d): set[int]() for d in decisions if isinstance(d, Fire | Rearm | Flag)}
    instances = {type(d): set[int]() for d in decisions if isinstance(d, Finish | Dismiss | Withdraw | Queue | Wait)}
    for d in decisions:
        if isinstance(d, Fire | Rearm | Flag):
            schedules[type(d)].add(d.schedule_id)
        elif isinstance(d, Finish | Dismiss | Withdraw | Queue | Wait):
            instances[type(d)].add(d.instance_id)
    if pauses or len(schedules) > 1:
        wanted = Q(pk__in=_all(schedules.values())) | Q(job__in=pauses)
        list(Schedule.objects.select_for_update(no_key=True).filter(wanted).order_by("pk").values_list("pk"))
    if len(instances) > 1:
        rows = Instance.objects.select_for_update(no_key=True).filter(pk__in=_all(instances.values()))
        list(rows.order_by("pk").values_list("pk"))


def once_more(do: Callable[P, T]) -> Callable[P, T]:
    """`do`, which is whole or nothing, is done again if PostgreSQL chose it to break a circle of waits. Once."""

    @wraps(do)
    def done(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return do(*args, **kwargs)
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", "") not in (DEADLOCK, NOT_SERIALIZABLE):
                raise
            log.warning("%s is done once more: %s", do.__qualname__, str(error).strip())
        time.sleep(PAUSE_SECONDS)
        return do(*args, **kwargs)

    return done


def _all(sets: Collection[set[int]]) -> set[int]:
    return set().union(*sets)
