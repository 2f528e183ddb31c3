"""The definition of a job: what runs, what it needs, what happens when it fails."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from jobs.core.policies import UpstreamRule
from jobs.core.running import CleanupAfter, ExecutionModel, IoPriority, StartMethod


def all_ends() -> list[str]:
    return [end.value for end in CleanupAfter]


# What may be large, and no list loads: a schema has up to 100 kB, the values of its parameters up to a megabyte.
LARGE = ("body", "environment", "parameters", "parameter_values")
LARGE_OF_JOB = tuple(f"job__{name}" for name in LARGE)  # of what is selected with its job


class Job(models.Model):
    """`revision` rises with every edit; a start checks it, so a stale plan can delay a run, never start it wrongly."""

    class Kind(models.TextChoices):
        SCRIPT = "script", "Python script"
        SCRIPT_PATH = "script_path", "Script file on the node"
        COMMAND = "command", "Shell command"
        CALLABLE = "callable", "Python callable"

    class Priority(models.IntegerChoices):
        LOW = 0, "low"
        MEDIUM = 1, "medium"
        HIGH = 2, "high"
        CRITICAL = 3, "critical"

    name = models.CharField(max_length=200, unique=True)
    description = models.TextField(blank=True, default="")
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.SCRIPT)
    body = models.TextField(help_text="The script's text, its path, the command line, or the callable's name.")
    execution_model = models.CharField(
        max_length=7, choices=[(m.value, m.value) for m in ExecutionModel], default=ExecutionModel.PROCESS.value
    )
    parameters = models.JSONField(default=dict, blank=True, help_text="JSON Schema of an object; empty: it takes none.")
    parameter_values = models.JSONField(default=dict, blank=True, help_text="What a run gets that says nothing else.")
    python_version = models.CharField(max_length=20, blank=True, default="", help_text="Empty: that of the service.")
    requirements = models.JSONField(default=list, blank=True, help_text="Packages that it needs, as pip has them.")
    environment = models.JSONField(default=dict, blank=True, help_text="Variables added to the job's environment.")
    cores = models.PositiveSmallIntegerField(default=1)
    memory_mb = models.PositiveIntegerField(default=0, help_text="Reserved, and a limit. 0: neither.")
    timeout_seconds = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0.001)])
    kill_grace_seconds = models.FloatField(default=10.0, validators=[MinValueValidator(0.0)])
    priority = models.PositiveSmallIntegerField(choices=Priority.choices, default=Priority.MEDIUM)
    max_retries = models.PositiveSmallIntegerField(default=0)
    retry_delay_seconds = models.FloatField(default=60.0, validators=[MinValueValidator(0.0)])
    retry_max_delay_seconds = models.FloatField(default=3600.0, validators=[MinValueValidator(0.0)])
    retry_jitter = models.BooleanField(default=True)
    retry_only_exit_codes = models.JSONField(default=list, blank=True, help_text="Empty: any failure is retried.")
    retry_never_exit_codes = models.JSONField(default=list, blank=True)
    pause_after_failures = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text="In a row; empty: never."
    )
    failures_in_a_row = models.PositiveIntegerField(default=0, editable=False)
    tenant = models.CharField(max_length=100, blank=True, default="", help_text="Whose fair share it takes.")
    deadline_seconds = models.FloatField(
        null=True, blank=True, validators=[MinValueValidator(0.0)], help_text="From due to done; for the order only."
    )
    start_deadline_seconds = models.FloatField(
        null=True, blank=True, validators=[MinValueValidator(0.0)], help_text="Started later than this: skipped."
    )
    max_running = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text="Instances at once; empty: no limit."
    )
    rates = models.JSONField(default=list, blank=True, help_text="Names of token buckets that each start takes from.")
    upstreams = models.ManyToManyField(
        "self", through="Dependency", through_fields=("job", "upstream"), symmetrical=False, related_name="dependents"
    )
    upstream_rule = models.CharField(
        max_length=11,
        choices=[(rule.value, rule.value.replace("_", " ")) for rule in UpstreamRule],
        default=UpstreamRule.ALL_SUCCESS.value,
    )
    not_before = models.CharField(max_length=8, blank=True, default="", help_text="Time of day, in its root's zone.")
    start = models.CharField(
        max_length=4, choices=[(s.value, s.value) for s in StartMethod], default=StartMethod.AUTO.value
    )
    working_directory = models.CharField(max_length=1000, blank=True, default="", help_text="Empty: its own.")
    run_as = models.CharField(max_length=32, blank=True, default="", help_text="A user, where the service is root.")
    umask = models.CharField(max_length=4, default="022", help_text="Octal.")
    nice = models.SmallIntegerField(default=0, validators=[MinValueValidator(-20), MaxValueValidator(19)])
    io_priority = models.CharField(
        max_length=6, choices=[(p.value, p.value) for p in IoPriority], default=IoPriority.NORMAL.value
    )
    max_processes = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    max_file_mb = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    cleanup_command = models.TextField(blank=True, default="", help_text="Run when an attempt has ended.")
    cleanup_after = models.JSONField(default=all_ends, blank=True, help_text="Which ends it follows.")
    cleanup_timeout_seconds = models.FloatField(default=60.0, validators=[MinValueValidator(0.001)])
    keep_workspace = models.BooleanField(null=True, blank=True, help_text="Empty: as the site's setting says.")
    keep_days = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: as the site's setting says.")
    keep_failed_days = models.PositiveIntegerField(null=True, blank=True, help_text="Of runs that did not succeed.")
    keep_instances = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    tags = models.JSONField(default=list, blank=True)
    notify_email = models.TextField(blank=True, default="", help_text="Told when an instance fails for good.")
    notify_webhook = models.TextField(blank=True, default="", help_text="Posted to when an instance fails for good.")
    usual_seconds = models.FloatField(null=True, blank=True, editable=False, help_text="Median of the last successes.")
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_by = models.CharField(max_length=150, blank=True, default="")
    delete_requested_at = models.DateTimeField(null=True, blank=True, editable=False)
    delete_requested_by = models.CharField(max_length=150, blank=True, default="", editable=False)
    revision = models.PositiveIntegerField(default=1)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        indexes = [
            models.Index(fields=["failures_in_a_row"], name="job_failing"),
            models.Index(
                fields=["delete_requested_at"],
                name="job_being_deleted",
                condition=Q(delete_requested_at__isnull=False),
            ),
        ]
        constraints = [
            # What runs in a process of its own cannot do so without a core.
            models.CheckConstraint(
                condition=Q(cores__gte=1) | Q(execution_model__in=["async", "thread"]), name="job_needs_a_core"
            ),
            models.CheckConstraint(
                condition=Q(execution_model="process") | Q(kind="callable"), name="job_model_fits_kind"
            ),
            models.CheckConstraint(condition=Q(priority__lte=3), name="job_priority_known"),
            models.CheckConstraint(condition=Q(nice__gte=-20) & Q(nice__lte=19), name="job_nice_known"),
            models.CheckConstraint(
                condition=Q(timeout_seconds__isnull=True) | Q(timeout_seconds__gt=0), name="job_timeout_positive"
            ),
            models.CheckConstraint(
                condition=Q(retry_delay_seconds__gte=0) & Q(retry_max_delay_seconds__gte=0), name="job_delays_positive"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def paused(self) -> bool:
        return self.paused_at is not None

    @property
    def being_deleted(self) -> bool:
        """It goes when its processes have ended; nothing of it starts any more."""
        return self.delete_requested_at is not None
