"""Tables of Rota. Fields and constraints live here; questions and moves in `jobs.store`."""

from jobs.models.attempt import Attempt
from jobs.models.backfill import Backfill
from jobs.models.calendar import Calendar
from jobs.models.dependency import Dependency
from jobs.models.event import Event, FeedEpoch
from jobs.models.idempotency import IdempotencyKey
from jobs.models.instance import Instance
from jobs.models.job import LARGE, LARGE_OF_JOB, Job
from jobs.models.limit import Limit
from jobs.models.node import Node
from jobs.models.schedule import Schedule
from jobs.models.secret import Secret, SecretGrant
from jobs.models.token import ApiToken

__all__ = [
    "LARGE",
    "LARGE_OF_JOB",
    "ApiToken",
    "Attempt",
    "Backfill",
    "Calendar",
    "Dependency",
    "Event",
    "FeedEpoch",
    "IdempotencyKey",
    "Instance",
    "Job",
    "Limit",
    "Node",
    "Schedule",
    "Secret",
    "SecretGrant",
]
