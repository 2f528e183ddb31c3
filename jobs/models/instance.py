"""One execution of a job for one logical date."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Upper

from jobs.core.states import LIVE, TERMINAL, UNFINISHED, Status
from jobs.models.backfill import Backfill
from jobs.models.job import Job
from jobs.models.node import Node
from jobs.models.schedule import Schedule


class InstanceManager(models.Manager["Instance"]):
    """Without the values of parameters, which may have a megabyte each, and of which nearly nobody asks."""

    def get_queryset(self) -> models.QuerySet[Instance]:
        return super().get_queryset().defer("parameter_values")


class Instance(models.Model):
    """Fields only: a status changes nowhere but in `jobs.store`. Foreign keys that another index covers have none."""

    class Cause(models.TextChoices):
        SCHEDULE = "schedule", "its schedule"
        SUBMIT = "submit", "submitted"
        MANUAL = "manual", "run by hand"
        RETRY = "retry", "retried by hand"
        WORKFLOW = "workflow", "run with its workflow"
        BACKFILL = "backfill", "backfilled"

    job = models.ForeignKey(Job, on_delete=models.CASCADE, db_index=False, related_name="instances")
    schedule = models.ForeignKey(
        Schedule, null=True, blank=True, on_delete=models.SET_NULL, db_index=False, related_name="instances"
    )
    logical_at = models.DateTimeField()
    generation = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=16, choices=[(s.value, s.value.replace("_", " ")) for s in Status])
    cause = models.CharField(max_length=10, choices=Cause.choices)
    due_at = models.DateTimeField()
    queued_at = models.DateTimeField(null=True, blank=True)
    order_key = models.BigIntegerField(null=True, blank=True)
    retry_at = models.DateTimeField(null=True, blank=True)
    attempt_count = models.PositiveIntegerField(default=0)
    lost_count = models.PositiveIntegerField(default=0)
    token = models.CharField(max_length=32, blank=True, default="")
    node = models.ForeignKey(
        Node, null=True, blank=True, on_delete=models.PROTECT, db_index=False, related_name="instances"
    )
    cores = models.JSONField(default=list)
    virtual_cores = models.PositiveSmallIntegerField(default=0)
    memory_mb = models.PositiveIntegerField(default=0)
    hold_code = models.CharField(max_length=32, blank=True, default="")
    hold_subject = models.JSONField(default=dict, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_by = models.CharField(max_length=150, blank=True, default="")
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    exit_code = models.IntegerField(null=True, blank=True)
    signal = models.PositiveSmallIntegerField(null=True, blank=True)
    error = models.TextField(blank=True, default="")
    serial = models.BooleanField(default=False, help_text="Waits until no other instance of its job runs.")
    reason_code = models.CharField(max_length=32, blank=True, default="", help_text="Why it ended without running.")
    blame = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        db_index=False,
        related_name="+",
        help_text="The first that failed.",
    )
    backfill = models.ForeignKey(Backfill, null=True, blank=True, on_delete=models.SET_NULL, db_index=False)
    retry_of = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="retries")
    parameter_values = models.JSONField(null=True, blank=True, help_text="Empty: as the job says.")
    created_by = models.CharField(max_length=150, blank=True, default="")
    created_at = models.DateTimeField()

    objects = InstanceManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "logical_at", "generation"], name="instance_once_per_fire"),
            models.CheckConstraint(condition=Q(status__in=[s.value for s in Status]), name="instance_status_known"),
            models.CheckConstraint(
                condition=Q(status__in=[s.value for s in sorted(TERMINAL)], ended_at__isnull=False)
                | Q(status__in=[s.value for s in sorted(LIVE)], ended_at__isnull=True),
                name="instance_ended_iff_terminal",
            ),
            models.CheckConstraint(
                condition=(Q(status="running") & ~Q(token="") & Q(node__isnull=False))
                | (~Q(status="running") & Q(token="")),
                name="instance_token_iff_running",
            ),
            models.CheckConstraint(
                condition=~Q(status="queued") | Q(queued_at__isnull=False, order_key__isnull=False),
                name="instance_queued_has_place",
            ),
            models.CheckConstraint(
                condition=~Q(status="retrying") | Q(retry_at__isnull=False), name="instance_retrying_has_moment"
            ),
        ]
        indexes = [
            models.Index(fields=["order_key", "id"], name="instance_queue", condition=Q(status="queued")),
            models.Index(fields=["due_at", "id"], name="instance_pending_due", condition=Q(status="pending")),
            models.Index(fields=["retry_at", "id"], name="instance_retrying_due", condition=Q(status="retrying")),
            models.Index(fields=["node"], name="instance_running_on_node", condition=Q(status="running")),
            models.Index(fields=["job", "-id"], name="instance_of_job_newest"),
            models.Index(
                fields=["job"],
                name="instance_unfinished_of_job",
                condition=Q(status__in=[s.value for s in sorted(UNFINISHED)]),
            ),
            models.Index(
                F("ended_at").desc(), name="instance_failures_newest", condition=Q(status__in=["failed", "timeout"])
            ),
            # The filters of the list of instances; dashboard/presentation/matching.py reads along them.
            # By the status in capitals: with a plain one SQLite takes it for the engine's queries, too, instead of the
            # partial indexes above, and sorts all that wait at each step.
            models.Index(Upper("status"), F("id").desc(), name="instance_status_newest"),
            models.Index(fields=["-id"], name="instance_errors_newest", condition=~Q(error="")),
            models.Index(fields=["ended_at"], name="instance_ended_from"),
            models.Index(fields=["created_at"], name="instance_created_until"),
            models.Index(fields=["backfill"], name="instance_of_backfill", condition=Q(backfill__isnull=False)),
            models.Index(fields=["blame"], name="instance_blaming", condition=Q(blame__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"instance {self.pk}"
