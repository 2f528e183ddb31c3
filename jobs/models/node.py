"""A machine that runs the service."""

from __future__ import annotations

import uuid

from django.db import models


class Node(models.Model):
    """Known by the UUID kept in its data folder; host name and boot id are only hints for people."""

    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    name = models.CharField(max_length=64, unique=True)
    incarnation = models.PositiveIntegerField(default=0, help_text="Rises at each start of the service.")
    host_name = models.CharField(max_length=255, blank=True, default="")
    boot_id = models.CharField(max_length=36, blank=True, default="")
    pid = models.PositiveIntegerField(null=True, blank=True)
    version = models.CharField(max_length=32, blank=True, default="")
    cores = models.JSONField(default=list, help_text="Ids of the physical cores that may be given out.")
    overcommit = models.FloatField(default=1.5)
    memory_mb = models.PositiveIntegerField(default=0, help_text="Memory that may be reserved.")
    notices = models.JSONField(default=list, blank=True, help_text="Sentences about what this machine cannot do.")
    equipment = models.JSONField(
        default=dict, blank=True, help_text="Its Pythons and environments, as it told them last."
    )
    admission_stopped = models.TextField(blank=True, default="", help_text="Why nothing new starts here.")
    drained_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when it starts nothing new and lets what runs end."
    )
    drained_by = models.CharField(max_length=150, blank=True, default="", help_text="The name of who drained it.")
    kept_for = models.BigIntegerField(null=True, blank=True, help_text="Free cores are kept for this instance.")
    abandoned = models.JSONField(
        default=list, blank=True, help_text="Tokens of attempts that have ended while their threads run on."
    )
    started_at = models.DateTimeField(null=True, blank=True)
    stopped_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name
