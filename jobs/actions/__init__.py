"""The only writes that people, pages, API and admin may ask for.

Each takes `actor`, the name of the user who asks, and `now`, an aware UTC moment. Each is done whole, with its event,
or raises an ActionError whose sentence says why not and what to do.
"""

from jobs.actions.answers import (
    ActionError,
    Cancelled,
    Changed,
    Created,
    Deleted,
    InvalidInput,
    NotFound,
    Problem,
    Refused,
    Submitted,
    WaitingCancelled,
)
from jobs.actions.backfills import (
    MOST_AT_ONCE,
    BackfillCancelled,
    BackfillPlan,
    cancel_backfill,
    create_backfill,
    plan_backfill,
)
from jobs.actions.calendars import CalendarStored, change_calendar, check_calendar, create_calendar, delete_calendar
from jobs.actions.dates import read_date
from jobs.actions.deletion import delete_instance, delete_job, shown_names, waiting_outside
from jobs.actions.instances import cancel_instance
from jobs.actions.jobs import (
    cancel_waiting,
    change_job,
    check_edit,
    check_new_job,
    create_job,
    pause_job,
    resume_job,
)
from jobs.actions.limits import LimitChanged, change_limit, check_limit, create_limit, delete_limit
from jobs.actions.nodes import NodeChanged, drain_node, undrain_node
from jobs.actions.preview import Preview, preview
from jobs.actions.secrets import SecretChanged, change_secret, create_secret, delete_secret
from jobs.actions.tags import add_tag, check_tag, remove_tag
from jobs.actions.workflows import retry_from_here, retry_instance, run_job

__all__ = [
    "MOST_AT_ONCE",
    "ActionError",
    "BackfillCancelled",
    "BackfillPlan",
    "CalendarStored",
    "Cancelled",
    "Changed",
    "Created",
    "Deleted",
    "InvalidInput",
    "LimitChanged",
    "NodeChanged",
    "NotFound",
    "Preview",
    "Problem",
    "Refused",
    "SecretChanged",
    "Submitted",
    "WaitingCancelled",
    "add_tag",
    "cancel_backfill",
    "cancel_instance",
    "cancel_waiting",
    "change_calendar",
    "change_job",
    "change_limit",
    "change_secret",
    "check_calendar",
    "check_edit",
    "check_limit",
    "check_new_job",
    "check_tag",
    "create_backfill",
    "create_calendar",
    "create_job",
    "create_limit",
    "create_secret",
    "delete_calendar",
    "delete_instance",
    "delete_job",
    "delete_limit",
    "delete_secret",
    "drain_node",
    "pause_job",
    "plan_backfill",
    "preview",
    "read_date",
    "remove_tag",
    "resume_job",
    "retry_from_here",
    "retry_instance",
    "run_job",
    "shown_names",
    "undrain_node",
    "waiting_outside",
]
