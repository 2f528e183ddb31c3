"""Schedules in admin, to be looked at and found: they are edited with their job, or many at once in its list."""

from __future__ import annotations

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html

from jobs.admin.readonly import ReadOnlyAdmin, moment
from jobs.models import Schedule


@admin.register(Schedule)
class ScheduleAdmin(ReadOnlyAdmin):
    list_display = (
        "id", "job_link", "type", "expression", "zone", "calendar", "overlap", "catch_up",
        moment("next_at", "next"), moment("last_logical_at", "last"),
        "skipped_in_a_row", "fault",
    )  # fmt: skip
    list_filter = (
        "type", "zone", "calendar", "overlap", "catch_up",
        ("next_at", admin.EmptyFieldListFilter), ("fault", admin.EmptyFieldListFilter),
    )  # fmt: skip
    list_select_related = ("job", "calendar")
    search_fields = ("job__name", "expression", "zone")
    ordering = ("next_at", "id")

    @admin.display(description="job", ordering="job__name")
    def job_link(self, schedule: Schedule) -> str:
        return format_html(
            '<a href="{}"><bdi>{}</bdi></a>',
            reverse("admin:jobs_job_change", args=[schedule.job_id]),
            schedule.job.name,
        )
