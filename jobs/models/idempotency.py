"""What programs were answered, for those that ask again because the answer did not reach them."""

from __future__ import annotations

from django.db import models


class IdempotencyKey(models.Model):
    """One request that was granted. Stored in its transaction, so that there is an answer exactly if it was done."""

    caller = models.CharField(max_length=64, help_text="The SHA-256 of the token, or the user of the session.")
    key = models.CharField(max_length=200)
    request = models.CharField(max_length=64, help_text="The SHA-256 of what was asked.")
    status = models.PositiveSmallIntegerField(null=True)
    answer = models.TextField(
        blank=True, default="", help_text="JSON, as text: what was printed may hold what no JSON column takes."
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["caller", "key"], name="idempotency_key_once_per_caller")]
        indexes = [models.Index(fields=["created_at"], name="idempotency_key_age")]

    def __str__(self) -> str:
        return f"key {self.key}"
