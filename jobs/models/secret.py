"""Secret values by name, and the jobs that are given them."""

from __future__ import annotations

from django.db import models

from jobs.models.job import Job


class Secret(models.Model):
    """The value is stored encrypted only; nobody is shown it again."""

    name = models.CharField(max_length=100, unique=True)
    description = models.TextField(blank=True, default="")
    ciphertext = models.BinaryField()
    created_by = models.CharField(max_length=150, blank=True, default="")
    created_at = models.DateTimeField()
    updated_by = models.CharField(max_length=150, blank=True, default="")
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class SecretGrant(models.Model):
    """A job gets the value as an environment variable, or the path of a file with the value in it."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, db_index=False, related_name="secret_grants")
    secret = models.ForeignKey(Secret, on_delete=models.PROTECT, related_name="grants")
    variable = models.CharField(max_length=100)
    as_file = models.BooleanField(default=False)

    class Meta:
        ordering = ["variable"]
        constraints = [models.UniqueConstraint(fields=["job", "variable"], name="secret_grant_variable_once")]

    def __str__(self) -> str:
        return f"{self.secret} for {self.job}"
