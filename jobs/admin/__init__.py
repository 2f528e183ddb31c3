"""Django admin: everything can be looked at, and what changes anything goes through `jobs.actions`."""

from jobs.admin import backfill, calendar, instance, job, limit, records, schedule, secret, token, words

__all__ = ["backfill", "calendar", "instance", "job", "limit", "records", "schedule", "secret", "token", "words"]
