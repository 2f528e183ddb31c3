"""Calendars in admin: edited as text, checked and stored by the same actions as by the API."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.utils import timezone

from jobs import actions
from jobs.actions import ActionError, InvalidInput
from jobs.admin.readonly import ListStyle
from jobs.calendars import words_of
from jobs.models import Calendar

EXAMPLE = """{
  "timezone": "Europe/Berlin",
  "business_days": "mon-fri",
  "holidays": ["2026-12-25"],
  "blackouts": [
    {"name": "release freeze", "from": "2026-12-20", "to": "2027-01-03"},
    {"name": "backup", "days": "mon-sun", "from": "22:00", "to": "06:00"}
  ]
}"""


class CalendarForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    name = forms.CharField(required=False, widget=forms.TextInput({"class": "vTextField", "spellcheck": "false"}))
    closed = forms.CharField(
        required=False,
        strip=False,
        help_text="JSON with timezone, business_days, holidays and blackouts; docs/scheduling.md tells what they mean.",
        widget=forms.Textarea({"class": "vLargeTextField", "spellcheck": "false", "rows": 18, "placeholder": EXAMPLE}),
    )

    class Meta:
        model = Calendar
        fields: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            closed = json.dumps(self.instance.definition, indent=2, ensure_ascii=False)
            self.initial = {"name": self.instance.name, "closed": closed}

    def clean(self) -> dict[str, Any]:
        try:
            actions.check_calendar(self.raw)
        except (ValueError, TypeError, RecursionError) as error:
            self.add_error("closed", f"This is no JSON object: {error}.")
        except InvalidInput as refusal:
            for problem in refusal.problems:
                self.add_error("name" if problem.field == "name" else "closed", problem.sentence)
        return self.cleaned_data

    @property
    def raw(self) -> dict[str, Any]:
        """As the actions take it. Raises ValueError, TypeError or RecursionError for what is no JSON object."""
        closed = json.loads(self.cleaned_data.get("closed") or "{}")
        if not isinstance(closed, dict):
            raise TypeError("it has no names and values in { }")
        return {**closed, "name": self.cleaned_data.get("name", "")}

    def _post_clean(self) -> None:
        """Nothing is put into the model from here: the actions store it."""


@admin.register(Calendar)
class CalendarAdmin(ListStyle, admin.ModelAdmin):  # type: ignore[type-arg]  # no generic at run time
    form = CalendarForm
    list_display = ("name", "words", "used_by")
    search_fields = ("name",)
    readonly_fields = ("words", "used_by", "updated_at")
    fields = ("name", "closed", *readonly_fields)
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
            cleared = dict.fromkeys(obj.definition)
            actions.change_calendar(obj.pk, cleared | form.raw, actor=actor, now=now)
        else:
            obj.pk = actions.create_calendar(form.raw, actor=actor, now=now).calendar_id
        obj.refresh_from_db()

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """What is refused after the form was checked, such as a name that somebody took in that moment, is said."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except ActionError as refusal:
            self.message_user(request, refusal.sentence, messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())

    @admin.action(description="Delete", permissions=["remove"])
    def delete_calendars(self, request: HttpRequest, calendars: QuerySet[Calendar]) -> None:
        for pk in list(calendars.order_by("pk").values_list("pk", flat=True)):
            try:
                name = actions.delete_calendar(pk, actor=request.user.get_username(), now=timezone.now())
                self.message_user(request, f"Calendar {name} is deleted.")
            except ActionError as refusal:
                self.message_user(request, refusal.sentence, messages.ERROR)
