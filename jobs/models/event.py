"""Every change, numbered, in the transaction that makes it. Readers follow: give me what came after n."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q


class Event(models.Model):
    """`id` rises in the order of commits (SQLite: one writer; PostgreSQL: inserted last, under an advisory lock).

    Plain numbers instead of foreign keys: an event outlives what it is about.
    """

    at = models.DateTimeField()
    kind = models.CharField(max_length=32)
    job_id = models.BigIntegerField(null=True, blank=True)
    instance_id = models.BigIntegerField(null=True, blank=True)
    attempt = models.PositiveIntegerField(null=True, blank=True)
    from_status = models.CharField(max_length=16, blank=True, default="")
    to_status = models.CharField(max_length=16, blank=True, default="")
    actor = models.CharField(max_length=150, blank=True, default="", help_text="A user's name, or the node's.")
    data = models.JSONField(default=dict, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["instance_id", "id"], name="event_of_instance", condition=Q(instance_id__isnull=False)
            ),
            models.Index(fields=["job_id", "id"], name="event_skipped", condition=Q(kind="schedule.skipped")),
            models.Index(fields=["at"], name="event_clock_changed", condition=Q(kind="clock.changed")),
        ]

    def __str__(self) -> str:
        return f"event {self.pk}: {self.kind}"


class FeedEpoch(models.Model):
    """One row. A restored back-up gets another epoch, and with it every reader of the feed starts afresh."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    epoch = models.UUIDField(default=uuid.uuid4)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="feed_has_one_epoch")]

    def __str__(self) -> str:
        return str(self.epoch)
