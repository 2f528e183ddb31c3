"""Django admin: everything can be looked at, and what changes anything goes through `jobs.actions`."""

from jobs.admin import backfill, calendar, columns, instance, job, limit, records, schedule, secret, token

__all__ = ["backfill", "calendar", "columns", "instance", "job", "limit", "records", "schedule", "secret", "token"]
