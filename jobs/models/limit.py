"""Limits beside cores that all nodes share: how many run at once, and how often something may start."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class Limit(models.Model):
    """`maximum` at once of a tag or an execution model; or a token bucket, with what was in it at `refilled_at`.

    The name of a tag's limit is the tag, that of a model's is the model; a bucket's is its own, and jobs name it.
    """

    class Kind(models.TextChoices):
        TAG = "tag", "jobs with this tag, at once"
        MODEL = "model", "jobs of this execution model, at once"
        RATE = "rate", "starts per second (token bucket)"

    kind = models.CharField(max_length=5, choices=Kind.choices)
    name = models.CharField(max_length=100)
    maximum = models.PositiveIntegerField(null=True, blank=True)
    rate_per_second = models.FloatField(null=True, blank=True)
    burst = models.PositiveIntegerField(null=True, blank=True)
    tokens = models.FloatField(null=True, blank=True, editable=False)
    refilled_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["kind", "name"]
        constraints = [
            models.UniqueConstraint(fields=["kind", "name"], name="limit_once_per_name"),
            models.CheckConstraint(
                condition=Q(kind="rate", rate_per_second__gt=0, burst__gte=1, maximum__isnull=True)
                | (~Q(kind="rate") & Q(maximum__isnull=False, rate_per_second__isnull=True, burst__isnull=True)),
                name="limit_has_its_numbers",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"
