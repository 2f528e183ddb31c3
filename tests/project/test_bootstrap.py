"""The first start and the later ones, as the commands that `make run` calls."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.core.management import CommandError, call_command

from jobs.management.commands.bootstrap import first_start
from scheduler_site import preflight

ROOT = Path(__file__).resolve().parents[2]


def manage(*arguments, **environment):
    """ROTA_DEBUG=1 spares a test the collecting of static files, which takes seconds."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )


@pytest.mark.django_db
def test_first_start_makes_an_admin_once():
    password = first_start()
    assert authenticate(None, username="admin", password=password).is_superuser
    assert first_start() == ""


@pytest.mark.django_db
def test_admin_of_before_is_left_alone():
    get_user_model().objects.create_user("ana")
    assert first_start() == ""
    assert not get_user_model().objects.filter(username="admin").exists()


@pytest.mark.django_db
def test_lost_password_is_replaced(capsys):
    get_user_model().objects.create_user("ana", password="forgotten")
    call_command("resetpassword", "ana")
    assert authenticate(None, username="ana", password=capsys.readouterr().out.strip())


@pytest.mark.django_db
def test_password_of_nobody_names_the_users():
    get_user_model().objects.create_user("ana")
    with pytest.raises(CommandError, match=r"no user 'anna'. Known users: ana"):
        call_command("resetpassword", "anna")


def test_bootstrap_twice_shows_the_password_once(bootstrapped, tmp_path):
    assert "Made the user `admin`" in bootstrapped.said
    assert list(bootstrapped.folder.glob("static/vendor/ansi_up.*.js"))
    shutil.copytree(bootstrapped.folder, tmp_path / "data")
    second = manage("bootstrap", ROTA_DATA=str(tmp_path / "data"))
    assert (second.returncode, second.stdout) == (0, ""), second.stderr


def test_bootstrap_beside_a_service_is_refused(tmp_path):
    with preflight.hold_service_lock(tmp_path / "service.lock"):
        refused = manage("bootstrap", ROTA_DATA=str(tmp_path))
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"rota: another service (process {os.getpid()}) already runs on {tmp_path};")


def test_database_that_does_not_answer_is_refused(tmp_path):
    refused = manage(
        "bootstrap", ROTA_DATA=str(tmp_path), DATABASE_URL="postgres://rota@127.0.0.1:1/rota", ROTA_DEBUG="1"
    )
    assert refused.returncode == 2
    assert refused.stderr.startswith("rota: the database at 127.0.0.1 cannot be opened (")
    assert refused.stderr.count("\n") == 1


def test_unprepared_database_is_refused(tmp_path):
    refused = manage("resetpassword", "admin", ROTA_DATA=str(tmp_path))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "run `manage.py bootstrap` first" in refused.stderr
    assert f"the database at {tmp_path}/db.sqlite3 has not" in refused.stderr


def test_nonsense_setting_is_one_line(tmp_path):
    refused = manage("check", ROTA_DATA=str(tmp_path), ROTA_PORT="web")
    assert refused.returncode == 2
    assert refused.stderr == (
        "rota: ROTA_PORT is 'web', but must be a whole number from 1 to 65535. Unset it for the default of 8000.\n"
    )


def test_machines_that_start_at_once_make_one_admin(tmp_path, postgres_url):
    def start(machine):
        return manage("bootstrap", ROTA_DATA=str(tmp_path / machine), DATABASE_URL=postgres_url, ROTA_DEBUG="1")

    with ThreadPoolExecutor(2) as machines:
        first, second = machines.map(start, ["a", "b"])
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert (first.stdout + second.stdout).count("Made the user") == 1


def test_bootstrap_prepares_postgres(tmp_path, postgres_url):
    made = manage("bootstrap", ROTA_DATA=str(tmp_path), DATABASE_URL=postgres_url, ROTA_DEBUG="1")
    assert "Made the user `admin`" in made.stdout
    assert made.stderr == ""
