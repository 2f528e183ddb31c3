"""Made-up history is such as the engine would have left."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.utils import timezone

from jobs.models import Attempt, Event, Instance, Job, Schedule
from scheduler_site import preflight

ROOT = Path(__file__).resolve().parents[2]


def seed(**options):
    call_command("seedhistory", **{"instances": 40, "jobs": 3} | options)


def test_history_has_what_was_asked_for(each_database):
    seed()
    assert (Job.objects.count(), Instance.objects.count(), Attempt.objects.count()) == (3, 40, 40)
    assert Event.objects.filter(kind="instance.ended").count() == 40
    assert not Instance.objects.filter(ended_at__gt=timezone.now()).exists()
    assert not Instance.objects.exclude(due_at__lte=F("started_at"), started_at__lte=F("ended_at")).exists()


@pytest.mark.django_db
def test_history_can_be_added_to():
    seed()
    seed(instances=2, jobs=5)
    assert (Job.objects.count(), Instance.objects.count()) == (8, 42)


@pytest.mark.django_db
def test_newer_history_has_higher_numbers():
    seed()
    moments = Instance.objects.order_by("pk").values_list("logical_at", flat=True)
    assert list(moments) == sorted(moments)


@pytest.mark.django_db
def test_made_up_jobs_have_missed_nothing():
    began = timezone.now()  # what is due a moment after it was made up is missed by nobody
    seed(jobs=20)
    active = Schedule.objects.filter(job__paused_at=None)
    assert active.filter(next_at__gt=began).count() == active.count()
    assert not Schedule.objects.filter(watched_from__lt=F("last_logical_at")).exists()


@pytest.mark.django_db
@pytest.mark.parametrize(("option", "given"), [("instances", 0), ("jobs", -1), ("days", 10**6)])
def test_senseless_number_is_refused(option, given):
    with pytest.raises(CommandError, match=f"--{option} is {given}, expected 1 to"):
        seed(**{option: given})


def test_folder_of_a_running_service_is_left_alone(tmp_path):
    with preflight.hold_service_lock(tmp_path / "service.lock"):
        ended = subprocess.run(
            [sys.executable, "manage.py", "seedhistory"],
            cwd=ROOT,
            env=os.environ | {"ROTA_DATA": str(tmp_path), "ROTA_DEBUG": "1"},
            capture_output=True,
            text=True,
        )
    assert ended.returncode == 2
    assert "stop it, or set ROTA_DATA to another folder" in ended.stderr
