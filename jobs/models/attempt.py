"""One try of an instance: the process that was started for it, and how that ended."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from jobs.core.states import AttemptStatus, OutcomeKind
from jobs.models.instance import Instance
from jobs.models.node import Node


class Attempt(models.Model):
    """Committed as `starting` before its process exists. The database allows one attempt in flight per instance."""

    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, db_index=False, related_name="attempts")
    number = models.PositiveIntegerField()
    token = models.CharField(max_length=32, unique=True)
    status = models.CharField(max_length=8, choices=[(s.value, s.value) for s in AttemptStatus])
    outcome = models.CharField(max_length=20, blank=True, default="", choices=[(k.value, k.value) for k in OutcomeKind])
    node = models.ForeignKey(Node, on_delete=models.PROTECT, db_index=False, related_name="attempts")
    cores = models.JSONField(default=list)
    virtual_cores = models.PositiveSmallIntegerField(default=0)
    memory_mb = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    exit_code = models.IntegerField(null=True, blank=True)
    signal = models.PositiveSmallIntegerField(null=True, blank=True)
    error = models.TextField(blank=True, default="")
    duration_seconds = models.FloatField(null=True, blank=True)
    cpu_seconds = models.FloatField(null=True, blank=True)
    peak_memory_bytes = models.BigIntegerField(null=True, blank=True)
    descendants_ended = models.PositiveIntegerField(default=0)
    result = models.TextField(blank=True, default="", help_text="JSON that the job gave.")
    abandoned_at = models.DateTimeField(null=True, blank=True, help_text="Ended while its thread ran on.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["instance", "number"], name="attempt_number_once"),
            models.UniqueConstraint(fields=["instance"], condition=~Q(status="ended"), name="attempt_one_in_flight"),
            models.CheckConstraint(
                condition=(Q(status="ended") & ~Q(outcome="") & Q(ended_at__isnull=False))
                | (~Q(status="ended") & Q(outcome="") & Q(ended_at__isnull=True)),
                name="attempt_outcome_iff_ended",
            ),
        ]
        indexes = [models.Index(fields=["node"], name="attempt_in_flight_on_node", condition=~Q(status="ended"))]

    def __str__(self) -> str:
        return f"attempt {self.number} of instance {self.instance_id}"
