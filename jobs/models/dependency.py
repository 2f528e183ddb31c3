"""Which job waits for which, within one logical date."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from jobs.models.job import Job


class Dependency(models.Model):
    """`job` waits for `upstream`. Cycles are refused by `jobs.actions`, as no constraint can."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="upstream_edges")
    upstream = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="dependent_edges")

    class Meta:
        verbose_name_plural = "dependencies"
        constraints = [
            models.UniqueConstraint(fields=["job", "upstream"], name="dependency_once"),
            models.CheckConstraint(condition=~Q(job=F("upstream")), name="dependency_not_on_itself"),
        ]

    def __str__(self) -> str:
        return f"{self.job_id} waits for {self.upstream_id}"
