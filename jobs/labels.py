"""What things are called wherever people read them: in forms, in admin, in refusals. The keys are the API's names."""

from __future__ import annotations

import re

LABELS = {
    "script_content": "Script",
    "script_path": "Path of the script",
    "command": "Command",
    "callable": "Callable",
    "name": "Name",
    "description": "Description",
    "cpu_cores_required": "Cores",
    "memory_mb_required": "Memory in MB",
    "timeout_seconds": "Time limit in seconds",
    "max_retries": "Retries",
    "retry_delay_seconds": "First retry after seconds",
    "retry_max_delay_seconds": "Longest wait in seconds",
    "retry_jitter": "Spread retries",
    "retry_only_exit_codes": "Retry only exit codes",
    "retry_never_exit_codes": "Never retry exit codes",
    "pause_after_failures": "Pause after failures in a row",
    "tenant": "Tenant",
    "deadline_seconds": "Deadline in seconds",
    "start_deadline_seconds": "Skip if not started after seconds",
    "max_running": "At most at once",
    "rates": "Rates",
    "kill_grace_seconds": "Grace in seconds",
    "notify_email": "E-mail when it fails",
    "notify_webhook": "Webhook when it fails",
    "python_version": "Python version",
    "parameters": "Parameters",
    "parameter_values": "Values of parameters",
    "requirements": "Packages",
    "start": "How it starts",
    "working_directory": "Working directory",
    "run_as": "Run as user",
    "umask": "Umask",
    "nice": "Nice",
    "io_priority": "Disk priority",
    "max_processes": "Most processes",
    "max_file_mb": "Largest file in MB",
    "cleanup_command": "Clean-up command",
    "cleanup_after": "Clean up after",
    "cleanup_timeout_seconds": "Clean-up limit in seconds",
    "keep_workspace": "Keep its files",
    "keep_days": "Keep successes for days",
    "keep_failed_days": "Keep others for days",
    "keep_instances": "Keep at most instances",
    "priority": "Priority",
    "tags": "Tags",
    "environment": "Environment",
    "secrets": "Secrets",
    "runs": "What runs",
    "when": "When",
    "depends_on": "Upstreams",
    "upstream_rule": "Runs when",
    "not_before": "Not before",
    "schedule_expression": "Schedule",
    "schedule_type": "When",
    "start_date": "Start",
    "end_date": "End",
    "timezone": "Time zone",
    "overlap": "While one runs",
    "queue_bound": "At most wait",
    "catch_up": "After downtime",
    "catch_up_limit": "Latest how many",
    "misfire_grace_seconds": "Missed after seconds",
    "calendar": "Calendar",
    "calendar_action": "When it is closed",
    "jitter_seconds": "Spread over seconds",
    "gap": "In a skipped hour",
    "fold": "In a repeated hour",
    "first_at_once": "The first one",
}
LABELS_OF_CALENDAR = {
    "name": "Name",
    "timezone": "Time zone",
    "business_days": "Business days",
    "holidays": "Holidays",
    "blackouts": "Closed times",
}
CHOICES = {
    "overlap": {
        "skip": "skip it",
        "queue": "let it wait behind",
        "allow": "run both",
        "replace": "cancel the old one",
    },
    "catch_up": {"one": "run the latest, once", "skip": "run none", "all": "run the latest few"},
    "calendar_action": {"skip": "skip it", "move": "move it to the end"},
    "gap": {"default": "as usual", "run_after": "run right after", "skip": "skip it"},
    "fold": {"default": "as usual", "first": "the first time", "second": "the second time", "both": "both times"},
    "first_at_once": {"no": "one period later", "yes": "at once"},
    "start": {"auto": "as is best", "cold": "cold, a new Python each time", "warm": "warm, a fork of one that runs"},
    "io_priority": {"normal": "normal", "low": "low", "idle": "only when the disk is idle"},
}
# A name with an underscore is one of the API wherever it stands; another word may be one only where a sentence begins.
_API_NAMES = re.compile(
    rf"\b({'|'.join(name for name in LABELS if '_' in name)})\b|^({'|'.join(n for n in LABELS if '_' not in n)})\b"
)


def in_words(sentence: str) -> str:
    """With these labels where the check of a job names the API's fields."""
    return _API_NAMES.sub(lambda found: LABELS[found[0]], sentence)
