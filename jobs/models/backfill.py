"""The dates of a window, run again or for the first time, a few at once."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from jobs.models.job import Job


class Backfill(models.Model):
    """Dates in [`first_at`, `last_at`], oldest first. `next_at`: the next one to be made, None when all are.

    Its instances are made as earlier ones end, so a long window costs no rows before its turn.
    """

    class Status(models.TextChoices):
        RUNNING = "running", "running"
        DONE = "done", "done"
        CANCELLED = "cancelled", "cancelled"

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="backfills")
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    next_at = models.DateTimeField(null=True, blank=True)
    only_missing = models.BooleanField(default=True, help_text="Leave dates alone that have an instance already.")
    concurrency = models.PositiveSmallIntegerField(default=1)
    dates = models.PositiveIntegerField(help_text="How many dates the window held when it was asked for.")
    made = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.RUNNING)
    created_by = models.CharField(max_length=150, blank=True, default="")
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(last_at__gte=models.F("first_at")), name="backfill_window_in_order"),
            models.CheckConstraint(condition=Q(concurrency__gte=1), name="backfill_runs_one_at_least"),
        ]
        indexes = [models.Index(fields=["id"], name="backfill_running", condition=Q(status="running"))]

    def __str__(self) -> str:
        return f"backfill {self.pk}"
