"""What requests may say, for the API's description. What is checked is read by `jobs.actions`, the same for all."""

from __future__ import annotations

from typing import Any, Literal

from ninja import Schema
from pydantic import Field

Text = str | None


class ScheduleFields(Schema):
    schedule_type: Literal["once", "interval", "fixed_delay", "cron", "daily", "weekly"] = "once"
    schedule_expression: str | float | None = Field(
        None, description="30s, 5m, 1h30m, seconds; a cron line; HH:MM[:SS]; mon,wed HH:MM[:SS]."
    )
    start_date: Text = Field(None, description="ISO date or moment; without offset it is local to `timezone`.")
    end_date: Text = Field(None, description="Inclusive; a bare date is that whole day.")
    timezone: Text = Field(None, description="IANA name; the site's default unless given.")
    gap: Literal["default", "run_after", "skip"] = Field("default", description="A fire in an hour that clocks skip.")
    fold: Literal["default", "first", "second", "both"] = Field("default", description="One in an hour shown twice.")
    calendar_action: Literal["skip", "move"] = Field("skip", description="What becomes of a fire in a closed time.")
    catch_up: Literal["skip", "one", "all"] = Field("one", description="What becomes of missed fires.")
    catch_up_limit: int = Field(3, ge=1, le=1000, description="How many of them, with `all`.")
    misfire_grace_seconds: float = Field(60, ge=1, description="A fire is missed if it is later than this.")
    overlap: Literal["skip", "queue", "allow", "replace"] = Field("skip", description="While one has not ended.")
    queue_bound: int = Field(10, ge=1, le=1000, description="How many may wait behind it, with `queue`.")
    jitter_seconds: float = Field(0, ge=0, le=86_400, description="Each starts up to this much later.")
    first_at_once: bool = Field(False, description="interval, fixed_delay: the first when the job is made.")


class JobFields(ScheduleFields):
    calendar: Text = Field(None, description="The name of a calendar of closed times.")
    name: str = Field(description="1 to 200 characters, unlike that of any other job.")
    description: str = ""
    kind: Literal["script", "command", "callable"] | None = Field(None, description="Follows from what is given.")
    script_content: Text = Field(None, description="The text of a Python script.")
    script_path: Text = Field(None, description="The absolute path of a script on the node.")
    command: Text = Field(None, description="A line for the shell.")
    parameters: dict[str, Any] = Field(
        {}, description="JSON Schema of an object: what an instance takes, and of which kind."
    )
    parameter_values: dict[str, Any] = Field(
        {}, description="For instances that are not told their own; masked by name."
    )
    callable: Text = Field(None, description="The name of a function that an app's jobs.py registers.")
    python_version: Text = Field(None, description="Such as 3.12; empty: the service's, or what the script says.")
    requirements: list[str] = Field([], max_length=200, description="Packages as pip has them, such as pandas>=2.2,<3.")
    environment: dict[str, str] = Field({}, description="Shown masked; a masked value given back keeps what is stored.")
    secrets: list[str | dict[str, Any]] = Field(
        [], description="Names of secrets, or objects with `name`, `variable` and `file` (true: the path of a file)."
    )
    cpu_cores_required: int | None = Field(None, ge=0, description="1 unless given; async and thread callables: 0.")
    memory_mb_required: int = Field(0, ge=0, description="Reserved, and the limit of all its processes; 0: neither.")
    timeout_seconds: float | None = Field(None, gt=0)
    kill_grace_seconds: float = Field(10, ge=0)
    max_retries: int | None = Field(None, ge=0, description="3 for a `once`, else 0, unless given.")
    retry_delay_seconds: float = Field(60, ge=0)
    retry_max_delay_seconds: float = Field(3600, ge=0)
    retry_jitter: bool = True
    retry_only_exit_codes: list[int] = Field([], description="Only these are retried; empty: any failure is.")
    retry_never_exit_codes: list[int] = Field([], description="Final at once.")
    pause_after_failures: int | None = Field(None, ge=1, description="So many in a row pause the job.")
    tenant: str = Field("", description="Whose fair share it takes, with the order `fair`.")
    deadline_seconds: float | None = Field(None, gt=0, description="From due to done; what the order `edf` goes by.")
    start_deadline_seconds: float | None = Field(None, gt=0, description="Not started by then after due: skipped.")
    max_running: int | None = Field(None, ge=1, description="Instances of it at once.")
    rates: list[str] = Field([], description="Names of rates (see limits) that each start takes from.")
    priority: int | Literal["low", "medium", "high", "critical"] = 1
    tags: list[str] = []
    depends_on: list[int | str] = Field([], description="Jobs that must end first, by id or name.")
    upstream_rule: Literal["all_success", "all_done", "any_failed"] = "all_success"
    not_before: str = Field("", description="Time of day, HH:MM, before which it does not run; in its workflow's zone.")
    start: Literal["auto", "cold", "warm"] = Field("auto", description="A new Python, or a fork of one that is there.")
    working_directory: str = Field("", description="An absolute path on the node; empty: one of its own.")
    run_as: str = Field("", description="A user of the node, where the service is root.")
    umask: str = Field("022", description="Octal.")
    nice: int = Field(0, ge=-20, le=19, description="Below 0 only where the service is root.")
    io_priority: Literal["normal", "low", "idle"] = "normal"
    max_processes: int | None = Field(None, ge=1, description="All that it starts, at one time.")
    max_file_mb: int | None = Field(None, ge=1, description="No file that it writes grows beyond this.")
    cleanup_command: str = Field("", description="A line for the shell, run when an attempt has ended.")
    cleanup_after: list[Literal["success", "failure", "timeout", "cancel"]] = Field([], description="Empty: all ends.")
    cleanup_timeout_seconds: float = Field(60, gt=0)
    keep_workspace: bool | None = None
    keep_days: int | None = Field(None, ge=0, description="Of instances that succeeded or were skipped; 0: for ever.")
    keep_failed_days: int | None = Field(None, ge=0, description="Of all others; 0: for ever.")
    keep_instances: int | None = Field(None, ge=1, description="So many of its newest instances.")
    notify_email: str = ""
    notify_webhook: str = ""
    created_by: Text = Field(None, description="Set by the server to who asks, whatever is given.")


class RunFields(Schema):
    parameters: dict[str, Any] | None = Field(
        None, description="Values for this instance; the job's for those left out."
    )


class CalendarFields(Schema):
    name: str = Field(description="1 to 100 characters, unlike that of any other calendar.")
    timezone: Text = Field(None, description="IANA name; UTC unless given.")
    blackouts: list[dict[str, str]] = Field([], description="from, to, name; with days it comes again each week.")
    business_days: Text = Field(None, description="Such as mon-fri; every day unless given.")
    holidays: list[str] = Field([], description="Dates on which it is closed.")


class BackfillFields(Schema):
    first: str = Field(description="Of the window; a bare date is its first moment, in the schedule's zone.")
    last: str = Field(description="Of the window, inclusive, not in the future; a bare date is that whole day.")
    concurrency: int = Field(1, ge=1, le=100, description="How many dates may be under way at once.")
    only_missing: bool = Field(True, description="A job that has an instance of a date gets no other one for it.")
    dry_run: bool = Field(False, description="Say what it would make, and store nothing.")


class LimitFields(Schema):
    kind: Literal["tag", "model", "rate"]
    name: str = Field(description="The tag, the model (process, thread, async), or the name that jobs give in `rates`.")
    maximum: int | None = Field(None, ge=0, description="At once, of a tag or model.")
    rate_per_second: float | None = Field(None, gt=0, description="Starts a second on average, of a rate.")
    burst: int | None = Field(None, ge=1, description="Starts at once after a pause, of a rate; 1 unless given.")


class SecretFields(Schema):
    name: str = Field(description="1 to 100 letters, digits, and any of _.- inside; stays as it is.")
    description: str = ""
    value: str = Field(
        description="At most 65,536 bytes as UTF-8. Never answered.", json_schema_extra={"writeOnly": True}
    )


class PreviewFields(ScheduleFields):
    calendar: str | dict[str, Any] | None = Field(None, description="A calendar's name, or a calendar spelled out.")
    after: Text = Field(None, description="As if the schedule were saved at this moment; now unless given.")
    count: int = Field(10, ge=1, le=500)
    anchor: Text = Field(None, description="What an interval without start is counted from; `after` unless given.")
    hash_id: Text = Field(None, description="What `H` in a cron line is hashed from: a schedule's id, or any text.")
    down_from: Text = Field(None, description="As if nothing had run from then until `after`: what is made up for?")


def described(fields: type[Schema], *, partial: bool = False, required: bool = True) -> dict[str, Any]:
    """`openapi_extra` of an operation that takes these as JSON; with `partial` none of them is required, and without
    `required` no body at all.
    """
    schema = fields.model_json_schema()
    if partial:
        schema.pop("required", None)
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": schema}}}}
