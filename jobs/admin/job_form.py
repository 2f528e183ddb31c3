"""A job and its schedule in one form, checked as the API checks them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.utils import timezone

from jobs.actions import InvalidInput, check_edit, check_new_job
from jobs.actions.answers import ChangedMeanwhile
from jobs.actions.bodies import MASK
from jobs.actions.definition import raw_of, spec_of
from jobs.actions.forms import environment_text, raw_from_form
from jobs.actions.grants import text_of_uses
from jobs.actions.upstreams import UPSTREAM_RULES
from jobs.core.expressions import SCHEDULE_TYPES
from jobs.core.running import CleanupAfter
from jobs.labels import CHOICES, LABELS, in_words
from jobs.models import Calendar, Job
from jobs.parameters.masking import masked
from jobs.parameters.written import written
from jobs.store.workflows import names_of

FLAGS = ("retry_jitter", "first_at_once")
WIDE = {"class": "vLargeTextField", "spellcheck": "false"}
LINE = {"class": "vTextField", "spellcheck": "false"}


def line(help_text: str = "") -> forms.CharField:
    return forms.CharField(required=False, help_text=help_text, widget=forms.TextInput(LINE))


def lines(rows: int, help_text: str = "") -> forms.CharField:
    widget = forms.Textarea(WIDE | {"rows": rows})
    return forms.CharField(required=False, strip=False, help_text=help_text, widget=widget)


def choice(name: str, help_text: str = "") -> forms.ChoiceField:
    """What is not sent is as good as not said."""
    return forms.ChoiceField(required=False, choices=CHOICES[name].items(), help_text=help_text)


def in_our_words(fields: dict[str, forms.Field], labels: Mapping[str, str] = LABELS) -> None:
    """Called as on the pages, not by the API's names."""
    for name, field in fields.items():
        field.label = field.label or labels.get(name)


def offer_calendars(fields: dict[str, forms.Field], *before: tuple[str, str]) -> None:
    """Those that there are now, by name; `before` them what else may be chosen, with its words."""
    names = Calendar.objects.values_list("name", flat=True)
    fields["calendar"].choices = [*before, *((name, name) for name in names)]  # type: ignore[attr-defined]  # a choice


class JobForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    """Fields have the API's names and hold text; what it means, and whether it may be, `jobs.actions` says."""

    name = line()
    description = lines(2)
    script_content = lines(16, "A Python script; or give a path, a command, or a callable.")
    script_path = line("Absolute, on the node.")
    command = lines(2, "A line for the shell.")
    callable = line("The name of a function that an app's jobs.py registers.")
    python_version = line("Such as 3.12; empty: the service's own, or what the script says.")
    requirements = lines(4, "Packages as pip has them, one a line.")
    environment = lines(4, f"A line NAME=value each. {MASK} keeps the value that is stored.")
    secrets = lines(2, "A line VARIABLE=name each; (file) behind the name gives the path of a file with the value.")
    parameters = lines(6, "A JSON Schema of an object: what an instance takes. Empty: nothing.")
    parameter_values = lines(
        4, f"JSON, by name: for instances that are not told their own. {MASK} keeps what is stored."
    )
    cpu_cores_required = line("Empty: 1; for callables on a thread or an event loop 0.")
    memory_mb_required = line("Reserved, and the limit of all its processes. 0: neither.")
    timeout_seconds = line("Empty: no limit.")
    kill_grace_seconds = line("Between TERM and KILL.")
    schedule_type = forms.ChoiceField(choices=[(name, name) for name in SCHEDULE_TYPES])
    schedule_expression = line("30s, 5m, 1h30m; a cron line; HH:MM[:SS]; mon,wed HH:MM[:SS]. None for once.")
    gap = choice("gap", "A fire in an hour that clocks skip.")
    fold = choice("fold", "A fire in an hour that clocks show twice.")
    calendar = forms.ChoiceField(required=False, help_text="What is closed keeps fires from happening.")
    calendar_action = choice("calendar_action", "A fire in a closed time.")
    catch_up = choice("catch_up", "Of missed fires.")
    catch_up_limit = line("N of these.")
    misfire_grace_seconds = line("A fire is missed if it is later than this.")
    overlap = choice("overlap", "A fire while an instance has not ended.")
    queue_bound = line("With queue: how many may wait.")
    jitter_seconds = line("Each starts up to this much later.")
    first_at_once = forms.BooleanField(
        required=False,
        label="The first one at once",
        help_text="interval, fixed_delay: the first when the job is made; an edit starts nothing.",
    )
    start_date = line("ISO date or moment. A once without it runs only when asked.")
    end_date = line("Inclusive.")
    timezone = line()
    depends_on = lines(3, "Jobs that must end first, one a line, by name or number; then no schedule of its own.")
    upstream_rule = forms.ChoiceField(choices=[(rule, rule.replace("_", " ")) for rule in UPSTREAM_RULES])
    not_before = line("HH:MM, in the zone of its workflow's schedule.")
    max_retries = line("Empty: 3 for a once, else 0.")
    retry_delay_seconds = line()
    retry_max_delay_seconds = line()
    retry_jitter = forms.BooleanField(required=False)
    retry_only_exit_codes = line("Separated by commas; any other is final.")
    retry_never_exit_codes = line("Separated by commas; final at once.")
    pause_after_failures = line("In a row; empty: never.")
    max_running = line("Instances of it at once; empty: no limit.")
    rates = line("Names of limits that each start takes from, separated by commas.")
    tenant = line("Whose share it takes, with the order fair.")
    deadline_seconds = line("From due to done; with the order edf.")
    start_deadline_seconds = line("Not started by then after it was due: skipped.")
    priority = forms.ChoiceField(choices=Job.Priority.choices)
    tags = line("Separated by commas.")
    start = choice("start", "As is best: warm where nothing forbids it.")
    working_directory = line("Absolute, on the node; empty: one of its own.")
    run_as = line("A user of the node, where the service is root.")
    umask = line("Octal.")
    nice = line("-20 to 19; below 0 only where the service is root.")
    io_priority = choice("io_priority")
    max_processes = line("All that it starts; empty: no limit.")
    max_file_mb = line("No file grows beyond this; empty: no limit.")
    cleanup_command = lines(2, "A line for the shell, run when an attempt has ended.")
    cleanup_after = line("Some of success, failure, timeout, cancel, with commas.")
    cleanup_timeout_seconds = line()
    keep_workspace = forms.ChoiceField(required=False, choices=[("", "as the site does"), ("yes", "yes"), ("no", "no")])
    keep_days = line("Of instances that succeeded or were skipped; 0: for ever, empty: as the site does.")
    keep_failed_days = line("Of all others; the same.")
    keep_instances = line("So many of its newest instances; empty: as the site does.")
    notify_email = line("Told when an instance fails for good; separated by commas.")
    notify_webhook = line()
    revision = forms.CharField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = Job
        fields: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_calendars(self.fields, ("", "none"))
        in_our_words(self.fields)
        self.initial = self._stored() if self.instance.pk else {**NEW, **self.initial}

    def _stored(self) -> dict[str, Any]:
        job = self.instance
        raw = raw_of(spec_of(job, getattr(job, "schedule", None)))
        raw["environment"] = environment_text(dict.fromkeys(raw["environment"], MASK))
        raw["secrets"] = text_of_uses(raw["secrets"])
        raw["parameters"] = written(raw["parameters"]) if raw["parameters"] else ""
        raw["parameter_values"] = written(masked(raw["parameter_values"])) if raw["parameter_values"] else ""
        for name in ("tags", "rates", "retry_only_exit_codes", "retry_never_exit_codes", "cleanup_after"):
            raw[name] = ", ".join(map(str, raw[name]))
        raw["requirements"] = "\n".join(raw["requirements"])
        names = names_of(raw["depends_on"])
        raw["depends_on"] = "\n".join(names[upstream] for upstream in raw["depends_on"] if upstream in names)
        raw["keep_workspace"] = {None: "", True: "yes", False: "no"}[raw["keep_workspace"]]
        raw["timezone"] = raw["timezone"] or settings.DEFAULT_TIME_ZONE
        return {name: f"{value:g}" if isinstance(value, float) else value for name, value in raw.items()} | {
            "revision": job.revision
        }

    @property
    def raw(self) -> dict[str, Any]:
        """The API's fields as they were entered, for create_job or change_job."""
        values = {name: value for name, value in self.cleaned_data.items() if name != "revision"}
        return raw_from_form(values | {name: "yes" if values[name] else "no" for name in FLAGS})

    @property
    def edited_revision(self) -> int | None:
        """Of the job that the form showed; None for a new one."""
        given = self.cleaned_data.get("revision", "")
        return int(given) if given.isascii() and given.isdecimal() else None

    def clean(self) -> dict[str, Any]:
        if self.errors:
            return self.cleaned_data
        job = self.instance
        try:
            if job.pk:
                check_edit(job, getattr(job, "schedule", None), self.raw, now=timezone.now())
            else:
                check_new_job(self.raw, now=timezone.now())
        except InvalidInput as refusal:
            for problem in refusal.problems:
                field = problem.field.partition(".")[0]  # parameter_values.limit
                self.add_error(field if field in self.fields else None, in_words(problem.sentence))
        if job.pk and self.edited_revision != job.revision:
            self.add_error(None, ChangedMeanwhile("This job").sentence)
        return self.cleaned_data

    def _post_clean(self) -> None:
        """Nothing is put into the model from here: its fields hold what the actions make of these texts."""


NEW = {
    "memory_mb_required": "0", "kill_grace_seconds": "10", "schedule_type": "once",
    "timezone": settings.DEFAULT_TIME_ZONE, "retry_delay_seconds": "60", "retry_max_delay_seconds": "3600",
    "retry_jitter": True, "priority": Job.Priority.MEDIUM, "catch_up_limit": "3", "misfire_grace_seconds": "60",
    "queue_bound": "10", "jitter_seconds": "0", "upstream_rule": UPSTREAM_RULES[0], "umask": "022", "nice": "0",
    "cleanup_after": ", ".join(CleanupAfter), "cleanup_timeout_seconds": "60",
}  # fmt: skip
