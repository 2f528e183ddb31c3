"""What the form of a job asks: its fields, and the words in which it asks them."""

from __future__ import annotations

from jobs.actions.bodies import LONGEST_BODY
from jobs.actions.keeping import KEEPING_FIELDS
from jobs.core.running import RUN_FIELDS

# What the form asks in one question each, and the API's fields that it becomes.
RUNS = {
    "script_content": "Python script",
    "command": "Shell command",
    "script_path": "Script file on the node",
    "callable": "Python callable",
}
WHENS = {
    "now": "Now",
    "at": "Once, later",
    "interval": "Every so often",
    "fixed_delay": "After the last one",
    "daily": "Daily",
    "weekly": "Weekly",
    "cron": "Cron",
    "after": "After other jobs",
    "by_hand": "By hand only",
}
REPEATING = ("interval", "fixed_delay", "daily", "weekly", "cron")
ELAPSED = ("interval", "fixed_delay")

TEXTS = (
    "name", "description", "cpu_cores_required", "memory_mb_required", "timeout_seconds", "max_retries",
    "retry_delay_seconds", "retry_max_delay_seconds", "retry_jitter", "kill_grace_seconds", "notify_email",
    "notify_webhook", "keep_workspace", "priority", "tags", "environment", "secrets", "tenant", "deadline_seconds",
    "start_deadline_seconds", "max_running", "rates", "retry_only_exit_codes", "retry_never_exit_codes",
    "pause_after_failures", *RUN_FIELDS, *KEEPING_FIELDS, "python_version", "requirements",
    "parameters", "parameter_values",
)  # fmt: skip
UPSTREAMS = ("depends_on", "upstream_rule", "not_before")
# When a job with upstreams runs, in words.
RULES = {"all_success": "all have succeeded", "all_done": "all have ended", "any_failed": "any has failed"}
LISTS = ("tags", "rates", "retry_only_exit_codes", "retry_never_exit_codes", "cleanup_after")  # with commas between
OPTIONS = (
    "overlap", "queue_bound", "catch_up", "catch_up_limit", "misfire_grace_seconds", "calendar", "calendar_action",
    "jitter_seconds", "gap", "fold", "first_at_once",
)  # fmt: skip
TIMING = ("schedule_expression", "start_date", "end_date", "timezone", *OPTIONS)
FIELDS = ("runs", "when", *RUNS, *TEXTS, *UPSTREAMS, *TIMING)
# What is folded away at first, by the name of its fold; a fold with an error in it opens by itself.
FOLDS = {
    "fires": OPTIONS,
    "about": ("description", "tags", "priority", "environment"),
    "secrets": ("secrets",),
    "limits": ("max_running", "rates", "tenant", "deadline_seconds", "start_deadline_seconds"),
    "packages": ("python_version", "requirements"),
    "parameters": ("parameters", "parameter_values"),
    "run": RUN_FIELDS,
    "wrong": (
        "max_retries", "retry_delay_seconds", "retry_max_delay_seconds", "retry_jitter", "retry_only_exit_codes",
        "retry_never_exit_codes", "pause_after_failures", "kill_grace_seconds", "notify_email", "notify_webhook",
    ),
    "kept": (*KEEPING_FIELDS, "keep_workspace"),
}  # fmt: skip

DEFAULTS = {
    "runs": "script_content", "when": "now", "cpu_cores_required": "1", "priority": "medium", "retry_jitter": "yes",
    "upstream_rule": "all_success", "start": "auto", "umask": "022", "nice": "0", "io_priority": "normal",
    "cleanup_after": "success, failure, timeout, cancel", "cleanup_timeout_seconds": "60",
    "overlap": "skip", "queue_bound": "10", "catch_up": "one", "catch_up_limit": "3", "misfire_grace_seconds": "60",
    "calendar_action": "skip", "jitter_seconds": "0", "gap": "default", "fold": "default", "first_at_once": "no",
}  # fmt: skip
# Of each type of schedule: what one looks like, and what may be written.
EXPRESSIONS = {
    "interval": ("5m", "30s, 5m, 2h, 1d or 1h30m, counted from start to start."),
    "fixed_delay": (
        "15m",
        "30s, 5m, 2h, 1d or 1h30m, counted from the end of the last instance, whatever that end was.",
    ),
    "daily": ("02:30", "HH:MM or HH:MM:SS."),
    "weekly": ("mon,thu 08:00", "Days, then the time."),
    "cron": ("0 2 * * 1-5", "Minute, hour, day, month, weekday; with six fields the first is seconds."),
}

BLANK = {
    "script_content": "Script is blank; paste what is to run, or upload a file.",
    "command": "Command is blank; give what the shell is to run.",
    "script_path": "Path of the script is blank; give one that begins with /.",
    "callable": "No callable is chosen; choose one.",
}
LARGEST_UPLOAD = 4 * LONGEST_BODY["script_content"]  # bytes: UTF-8 has at most four for a character
