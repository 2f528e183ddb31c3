"""Calendars in admin: a line for each closed time, checked and stored by the same actions as by the API."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from jobs import actions
from jobs.actions import ActionError, InvalidInput
from jobs.actions.answers import ChangedMeanwhile
from jobs.actions.calendarlines import CALENDAR_TEXTS, EXPECTED_LINE, calendar_from_form, calendar_texts
from jobs.actions.calendars import revision_of
from jobs.admin.job_form import in_our_words, line, lines
from jobs.admin.readonly import ListStyle
from jobs.admin.refused import RefusalsTold
from jobs.calendars import words_of
from jobs.labels import LABELS_OF_CALENDAR
from jobs.models import Calendar


class CalendarForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    """Fields have the API's names and hold text."""

    name = line()
    timezone = line("In which all of it is meant, such as Europe/Berlin; UTC unless given.")
    business_days = line("Such as mon-fri; every day unless given.")
    holidays = lines(5, "A date in each line; the whole day is closed.")
    blackouts = lines(8, f"A closed time in each line: {EXPECTED_LINE}.")
    revision = forms.CharField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = Calendar
        fields: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        in_our_words(self.fields, LABELS_OF_CALENDAR)
        if self.instance.pk:
            texts = calendar_texts(self.instance.name, self.instance.definition)
            self.initial = texts | {"revision": revision_of(self.instance)}

    def clean(self) -> dict[str, Any]:
        try:
            self.raw = calendar_from_form(self.cleaned_data, self.instance.pk)
        except InvalidInput as refusal:
            for problem in refusal.problems:
                self.add_error(problem.field, problem.sentence)
        if self.instance.pk and self.cleaned_data["revision"] != revision_of(self.instance):
            self.add_error(None, ChangedMeanwhile("This calendar").sentence)
        return self.cleaned_data

    def _post_clean(self) -> None:
        """Nothing is put into the model from here: the actions store it."""


@admin.register(Calendar)
class CalendarAdmin(RefusalsTold, ListStyle, admin.ModelAdmin):  # type: ignore[type-arg]  # no generic at run time
    form = CalendarForm
    list_display = ("name", "words", "used_by")
    search_fields = ("name",)
    readonly_fields = ("words", "used_by", "updated_at")
    fields = (*CALENDAR_TEXTS, "revision", *readonly_fields)
    actions = ("delete_calendars",)

    @admin.display(description="in words")
    def words(self, calendar: Calendar) -> str:
        return words_of(calendar) if calendar.pk else "-"

    @admin.display(description="used by")
    def used_by(self, calendar: Calendar) -> int:
        return calendar.schedules.count() if calendar.pk else 0

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - Django's signature
        """By the action of the list, which says who uses it and leaves an event."""
        return False

    def has_remove_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("jobs.delete_calendar")

    def save_model(self, request: HttpRequest, obj: Calendar, form: CalendarForm, change: bool) -> None:
        actor, now = request.user.get_username(), timezone.now()
        if change:
            revision = form.cleaned_data["revision"]
            actions.change_calendar(obj.pk, form.raw, actor=actor, now=now, revision=revision)
        else:
            obj.pk = actions.create_calendar(form.raw, actor=actor, now=now).calendar_id
        obj.refresh_from_db()

    @admin.action(description="Delete", permissions=["remove"])
    def delete_calendars(self, request: HttpRequest, calendars: QuerySet[Calendar]) -> None:
        for pk in list(calendars.order_by("pk").values_list("pk", flat=True)):
            try:
                name = actions.delete_calendar(pk, actor=request.user.get_username(), now=timezone.now())
                self.message_user(request, f"Calendar {name} is deleted.")
            except ActionError as refusal:
                self.message_user(request, refusal.sentence, messages.ERROR)
