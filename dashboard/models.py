"""What the pages keep of their own: actions on many, which go on when the page that asked has gone."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import models

# A portion takes far less; who has been silent for longer has gone with its process.
SILENT = timedelta(seconds=20)


class BulkOperation(models.Model):
    """One act (`dashboard.acts`) on each of `ids`, or on each that `query` matches up to the id `up_to`, by rising id.

    All below and with the id `cursor` are done. It moves in the transaction of the action on that one, so an operation
    that was interrupted goes on where it was, and does nothing twice.
    """

    subject = models.CharField(max_length=8, default="instance")
    action = models.CharField(max_length=12)
    detail = models.TextField(blank=True, default="")
    actor = models.CharField(max_length=150)
    query = models.TextField(blank=True, default="")
    ids = models.JSONField(null=True, blank=True)
    up_to = models.BigIntegerField()
    total = models.PositiveIntegerField()
    cursor = models.BigIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    refusal = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    stop_asked_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["ended_at", "-id"], name="bulk_operation_unended")]

    def __str__(self) -> str:
        return f"{self.action} {self.total} {self.subject}s"

    def is_silent(self, now: datetime) -> bool:
        """Whether nobody works on it though it has not ended: its process has."""
        return self.ended_at is None and self.seen_at < now - SILENT
