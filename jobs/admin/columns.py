"""What admin calls the columns that it only shows. Django makes words of their names: "Memory mb", "Api tokens".

Set here and not in the models, where each name would be a migration.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.apps import apps
from django.db.models import Field

from jobs.labels import LABELS
from jobs.models import ApiToken, Attempt, Instance, Job, Schedule

UNITS = {"seconds": "in seconds", "mb": "in MB", "bytes": "in bytes"}
CAPITALS = {"cpu": "CPU", "api": "API", "uuid": "UUID", "id": "ID", "tz": "TZ"}
WORDS: dict[type, Mapping[str, str]] = {
    Job: LABELS,
    Schedule: LABELS | {
        "type": "type of schedule", "expression": "schedule", "zone": LABELS["timezone"],
        "start_at": LABELS["start_date"], "end_at": LABELS["end_date"],
    },
    Instance: {
        "attempt_count": "attempts", "lost_count": "lost attempts", "blame": "first cause",
        "virtual_cores": "virtual slots",
    },
    Attempt: {
        "descendants_ended": "processes ended with it", "cpu_seconds": "CPU time in seconds",
        "virtual_cores": "virtual slots",
    },
}  # fmt: skip


def name_all() -> None:
    for model in apps.get_app_config("jobs").get_models():
        for field in model._meta.get_fields():
            if isinstance(field, Field):
                word = WORDS.get(model, {}).get(field.name)
                field.verbose_name = _small(word) if word else _spelled(field.name)
    ApiToken._meta.verbose_name, ApiToken._meta.verbose_name_plural = "API token", "API tokens"


def _spelled(name: str) -> str:
    words = [CAPITALS.get(word, word) for word in name.split("_")]
    return " ".join([*words[:-1], UNITS.get(words[-1], words[-1])] if len(words) > 1 else words)


def _small(label: str) -> str:
    """As Django writes names: it makes the first letter a capital where a sentence begins."""
    return label[0].lower() + label[1:]


name_all()
