"""Tables of Rota. Fields and constraints live here; questions and moves in `jobs.store`."""

from jobs.models.attempt import Attempt
from jobs.models.event import Event, FeedEpoch
from jobs.models.instance import Instance
from jobs.models.job import Job
from jobs.models.node import Node
from jobs.models.schedule import Schedule
from jobs.models.token import ApiToken

__all__ = ["ApiToken", "Attempt", "Event", "FeedEpoch", "Instance", "Job", "Node", "Schedule"]
