"""When nothing is to run: blackout windows and days that are no business days, named and reusable."""

from __future__ import annotations

from django.db import models


class Calendar(models.Model):
    """`definition` is what `jobs.core.calendarreading.parse_calendar` reads."""

    name = models.CharField(max_length=100, unique=True)
    definition = models.JSONField(default=dict, help_text="Time zone, blackout windows, business days and holidays.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
