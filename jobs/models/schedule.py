"""When a job runs."""

from __future__ import annotations

from django.db import models

from jobs.models.job import Job


class Schedule(models.Model):
    """`last_logical_at` only rises, in the transaction that inserts the instance: that makes a fire happen once.

    `watched_from` is the moment from which a fire counts as missed: creation, edit and resume move it to now, so
    saving or enabling never starts anything by itself. `next_at` is the fire that the engine will make next.
    """

    class Type(models.TextChoices):
        ONCE = "once", "once"
        INTERVAL = "interval", "every interval"
        CRON = "cron", "cron"
        DAILY = "daily", "daily"
        WEEKLY = "weekly", "weekly"

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="schedule")
    type = models.CharField(max_length=12, choices=Type.choices)
    expression = models.CharField(max_length=500, blank=True, default="")
    zone = models.CharField(max_length=64, default="UTC")
    start_at = models.DateTimeField(null=True, blank=True)
    end_at = models.DateTimeField(null=True, blank=True)
    anchor_at = models.DateTimeField(help_text="Fixed-rate fires are this moment plus whole intervals.")
    watched_from = models.DateTimeField()
    last_logical_at = models.DateTimeField(null=True, blank=True)
    next_at = models.DateTimeField(null=True, blank=True)
    run_count = models.PositiveBigIntegerField(default=0)
    missed_count = models.PositiveBigIntegerField(default=0)
    skipped_count = models.PositiveBigIntegerField(default=0)
    skipped_in_a_row = models.PositiveIntegerField(default=0)
    fault = models.TextField(blank=True, default="", help_text="Why the engine cannot use this schedule.")

    class Meta:
        indexes = [models.Index(fields=["next_at"], name="schedule_due", condition=models.Q(next_at__isnull=False))]

    def __str__(self) -> str:
        return f"{self.type} {self.expression}".strip()
