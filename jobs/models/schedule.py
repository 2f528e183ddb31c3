"""When a job runs."""

from __future__ import annotations

from django.db import models

from jobs.core.catchup import CatchUp
from jobs.core.policies import DEFAULT_POLICY, Overlap
from jobs.models.calendar import Calendar
from jobs.models.job import Job


class Schedule(models.Model):
    """`last_logical_at` only rises, in the transaction that inserts the instance: that makes a fire happen once.

    `watched_from` is the moment from which a fire counts as missed: creation, edit and resume move it to now, so
    saving or enabling never starts anything by itself. `next_at` is the fire that the engine will make next.
    `former_mark_at`: up to here all had been decided when the clock was set back behind it.
    """

    class Type(models.TextChoices):
        ONCE = "once", "once"
        INTERVAL = "interval", "every interval"
        FIXED_DELAY = "fixed_delay", "after the last one ended"
        CRON = "cron", "cron"
        DAILY = "daily", "daily"
        WEEKLY = "weekly", "weekly"

    class Gap(models.TextChoices):
        DEFAULT = "default", "fixed times after it, others not at all"
        RUN_AFTER = "run_after", "at the first moment after it"
        SKIP = "skip", "not at all"

    class Fold(models.TextChoices):
        DEFAULT = "default", "fixed times first, others both times"
        FIRST = "first", "the first time"
        SECOND = "second", "the second time"
        BOTH = "both", "both times"

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="schedule")
    type = models.CharField(max_length=12, choices=Type.choices)
    expression = models.CharField(max_length=500, blank=True, default="")
    zone = models.CharField(max_length=64, default="UTC")
    start_at = models.DateTimeField(null=True, blank=True)
    end_at = models.DateTimeField(null=True, blank=True)
    gap = models.CharField(max_length=9, choices=Gap.choices, default=Gap.DEFAULT)
    fold = models.CharField(max_length=7, choices=Fold.choices, default=Fold.DEFAULT)
    calendar = models.ForeignKey(Calendar, null=True, blank=True, on_delete=models.PROTECT, related_name="schedules")
    calendar_action = models.CharField(
        max_length=4, choices=[("skip", "skip it"), ("move", "move it to the end")], default="skip"
    )
    catch_up = models.CharField(max_length=4, choices=[(c.value, c.value) for c in CatchUp], default=CatchUp.ONE.value)
    catch_up_limit = models.PositiveSmallIntegerField(default=DEFAULT_POLICY.catch_up_limit)
    misfire_grace_seconds = models.FloatField(default=DEFAULT_POLICY.misfire_grace_seconds)
    overlap = models.CharField(max_length=7, choices=[(o.value, o.value) for o in Overlap], default=Overlap.SKIP.value)
    queue_bound = models.PositiveSmallIntegerField(default=DEFAULT_POLICY.queue_bound)
    jitter_seconds = models.FloatField(default=0.0)
    first_at_once = models.BooleanField(default=False, help_text="An interval's first fire is now, not one later.")
    anchor_at = models.DateTimeField(help_text="Fixed-rate fires are this moment plus whole intervals.")
    watched_from = models.DateTimeField()
    last_logical_at = models.DateTimeField(null=True, blank=True)
    former_mark_at = models.DateTimeField(null=True, blank=True)
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
