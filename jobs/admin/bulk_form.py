"""The form of a bulk edit. What is left empty stays as it is in each job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.utils import timezone

from jobs.actions import InvalidInput
from jobs.actions.capacity import largest_capacity
from jobs.actions.forms import raw_from_form
from jobs.actions.options import OPTION_FIELDS, read_options
from jobs.actions.reading import Reader
from jobs.actions.submission import read_job
from jobs.admin.job_form import in_our_words, offer_calendars
from jobs.labels import CHOICES, in_words
from jobs.models import Job

KEEP = "as it is"
NO_LIMIT = "none"
# What a job may also be without: the word for that takes it away.
CLEARED = ("timeout_seconds", "max_running", "start_deadline_seconds", "pause_after_failures", "tenant", "calendar")
LIMITING = ("max_running", "start_deadline_seconds", "pause_after_failures", "tenant")
# What a schedule does with its fires; `first_at_once` is about the making of one.
FIRING = tuple(name for name in OPTION_FIELDS if name != "first_at_once")
FIELDS = ("priority", "timeout_seconds", "cpu_cores_required", "memory_mb_required", "timezone", *LIMITING, *FIRING)
FORM_FIELD = {"tags": "add_tags"}


@dataclass(frozen=True, slots=True)
class BulkEdit:
    """What is wished of each chosen job. `fields` are the API's; `state` is pause, resume or empty."""

    state: str = ""
    run_now: bool = False
    cancel_waiting: bool = False
    fields: dict[str, Any] = field(default_factory=dict)
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()

    def patch(self, tags: Sequence[str]) -> dict[str, Any]:
        """What `change_job` is given for a job with these tags."""
        if not self.add_tags and not self.remove_tags:
            return dict(self.fields)
        kept = [tag for tag in tags if tag not in self.remove_tags]
        return self.fields | {"tags": list(dict.fromkeys((*kept, *self.add_tags)))}


def line(help_text: str = "", label: str | None = None) -> forms.CharField:
    widget = forms.TextInput({"class": "vTextField", "spellcheck": "false", "autocomplete": "off"})
    return forms.CharField(required=False, label=label, help_text=help_text, widget=widget)


def choice(name: str, help_text: str = "") -> forms.ChoiceField:
    return forms.ChoiceField(required=False, help_text=help_text, choices=[("", KEEP), *CHOICES[name].items()])


class BulkForm(forms.Form):
    state = forms.ChoiceField(required=False, choices=[("", KEEP), ("pause", "pause"), ("resume", "resume")])
    cancel_waiting = forms.BooleanField(required=False, label="Cancel what waits")
    run_now = forms.BooleanField(required=False, label="Run once now")
    priority = forms.ChoiceField(required=False, choices=[("", KEEP), *Job.Priority.choices])
    timeout_seconds = line(f"{NO_LIMIT} for no limit.")
    cpu_cores_required = line()
    memory_mb_required = line("0 reserves none.")
    max_running = line(f"Instances of the job; {NO_LIMIT} for no limit.")
    start_deadline_seconds = line(f"After it was due; {NO_LIMIT} for never.")
    pause_after_failures = line(f"{NO_LIMIT} for never.")
    tenant = line(f"Whose fair share it takes; {NO_LIMIT} for nobody's.")
    add_tags = line("Separated by commas.", "Add tags")
    remove_tags = line("Separated by commas.", "Remove tags")
    timezone = line("Of the schedule, such as Europe/Berlin.")
    gap = choice("gap", "A fire in an hour that clocks skip.")
    fold = choice("fold", "A fire in an hour that clocks show twice.")
    calendar = forms.ChoiceField(required=False, help_text="In whose closed times nothing fires.")
    calendar_action = choice("calendar_action")
    catch_up = choice("catch_up", "Of fires that were missed.")
    catch_up_limit = line("If the latest few are caught up.")
    misfire_grace_seconds = line("Behind its moment.")
    overlap = choice("overlap")
    queue_bound = line("Behind one that runs.")
    jitter_seconds = line("Each starts up to this much later.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_calendars(self.fields, ("", KEEP), (NO_LIMIT, NO_LIMIT))
        in_our_words(self.fields)

    def clean(self) -> dict[str, Any]:
        if self.errors:
            return self.cleaned_data
        if self.edit == BulkEdit():
            self.add_error(None, "Nothing is to change: fill in at least one field.")
        self._refuse_what_fits_no_job()
        if self.cleaned_data["run_now"] and self.cleaned_data["cancel_waiting"]:
            self.add_error("run_now", "It would be cancelled with what waits; do one after the other.")
        return self.cleaned_data

    @property
    def edit(self) -> BulkEdit:
        values = self.cleaned_data
        given = {name: values[name] for name in FIELDS if values[name].strip()}
        fields = raw_from_form(given)
        fields |= {name: None for name in CLEARED if str(fields.get(name, "")).strip().lower() == NO_LIMIT}
        return BulkEdit(
            state=values["state"],
            run_now=values["run_now"],
            cancel_waiting=values["cancel_waiting"],
            fields=fields,
            add_tags=_tags(values["add_tags"]),
            remove_tags=_tags(values["remove_tags"]),
        )

    def _refuse_what_fits_no_job(self) -> None:
        """Said once at its field, instead of once for each job: the same check, on a job that has nothing wrong."""
        given = self.edit.fields
        firing = Reader({name: given[name] for name in FIRING if name in given})
        read_options(firing, "cron")
        raw = {name: value for name, value in given.items() if name not in FIRING}
        raw |= {"name": "any", "command": "true", "tags": list(self.edit.add_tags)}
        problems = firing.problems
        try:
            read_job(raw, capacity=largest_capacity(), now=timezone.now())
        except InvalidInput as refusal:
            problems = [*refusal.problems, *problems]
        for problem in problems:
            name = FORM_FIELD.get(problem.field, problem.field)
            self.add_error(name if name in self.fields else None, in_words(problem.sentence))


def _tags(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
