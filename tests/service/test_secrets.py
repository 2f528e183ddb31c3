"""Secrets of a job of a real service: the job has them; nothing that anybody can look at, or that is kept, does."""

import asyncio
import base64
import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest
from cryptography.fernet import Fernet
from django.contrib.auth import get_user_model
from django.test import Client

from jobs import actions, models
from jobs.api.tokens import make_token
from jobs.execution import secretfiles
from jobs.execution.tree import read_proc
from jobs.service.loop import utc_now
from tests.service.conftest import Home
from tests.service.test_running import printed
from tests.waiting import DEADLINE_SECONDS, until

VALUE = "s3cr3t-value-123"
TRACES = [VALUE.encode(), base64.b64encode(VALUE.encode())]
DIGEST = hashlib.sha256(VALUE.encode()).hexdigest()
USES = ["api-token", {"name": "api-token", "variable": "TOKEN_FILE", "file": True}]
LOUD = """
import base64, hashlib, os, pathlib, sys, time
value = os.environ["API_TOKEN"]
print("digest", hashlib.sha256(open(os.environ["TOKEN_FILE"], "rb").read()).hexdigest())
print(f"it is {value} or", base64.b64encode(value.encode()).decode())
print(value, file=sys.stderr)
print("::rota progress=0.5 text=with " + value)
print('::rota result={"token": "%s"}' % value, flush=True)
while not pathlib.Path(os.environ["GO"]).exists():
    time.sleep(0.02)
raise RuntimeError(value)
"""


def make_secret(value: str = VALUE) -> int:
    raw = {"name": "api-token", "value": value}
    return actions.create_secret(raw, actor="ann", now=utc_now()).secret_id


def traces_in(content: bytes) -> list[bytes]:
    return [trace for trace in TRACES if trace in content]


def all_command_lines() -> bytes:
    return b"\n".join(read_proc(pid, "cmdline") for pid in psutil.pids())


def answers_about(instance_id: int) -> dict[str, bytes]:
    """What pages, live frames, the API and downloads say."""
    user, _ = get_user_model().objects.get_or_create(username="viewer")
    pages, api = Client(), Client(headers={"Authorization": f"Bearer {make_token(user, label='t', now=utc_now())}"})
    pages.force_login(user)
    job_id = models.Job.objects.get().pk
    of, about = f"/instances/{instance_id}/", f"/api/v1/instances/{instance_id}"
    seen = [of, f"{of}log/", f"{of}log/download/", f"{of}log/search/?words=it", "/live/rows/?topic=overview",
            f"/live/rows/?topic=instance:{instance_id}", f"/live/rows/?topic=job:{job_id}", "/", "/jobs/",
            f"/jobs/{job_id}/", f"/jobs/{job_id}/edit/", "/secrets/"]  # fmt: skip
    asked = [about, f"{about}/log", f"{about}/attempts/1/conditions", f"/api/v1/jobs/{job_id}", "/api/v1/secrets"]
    found = {address: pages.get(address) for address in seen} | {address: api.get(address) for address in asked}
    assert {address: answer.status_code for address, answer in found.items() if answer.status_code != 200} == {}
    return {address: asyncio.run(content_of(answer)) for address, answer in found.items()}


async def content_of(answer: Any) -> bytes:
    if not answer.streaming:
        return bytes(answer.content)
    parts = answer.streaming_content
    return b"".join([part async for part in parts] if answer.is_async else parts)


def test_value_is_where_the_job_is_and_nowhere_else(home: Home, tmp_path: Path):
    """bug-063: log, run page, answers, frames, process list, run directory, database, audit."""
    make_secret()
    home.start()
    instance_id = home.submit(LOUD, secrets=USES, environment={"GO": str(tmp_path / "go")}, timeout_seconds=600)
    until(lambda: "::rota result=" in printed(home, instance_id))
    assert not traces_in(all_command_lines())
    live = answers_about(instance_id)
    (tmp_path / "go").touch()
    assert home.until_all_ended() == {instance_id: "failed"}
    ended = answers_about(instance_id)
    assert DIGEST in printed(home, instance_id)
    assert "it is ******** or ********" in printed(home, instance_id)
    assert "RuntimeError: ********" in printed(home, instance_id)
    assert [address for found in (live, ended) for address, content in found.items() if traces_in(content)] == []
    assert b"secret <bdi>api-token</bdi>" in live[f"/instances/{instance_id}/"]
    assert json.loads(live[f"/api/v1/instances/{instance_id}/attempts/1/conditions"])["secrets"] == {
        "API_TOKEN": "api-token",
        "TOKEN_FILE": "api-token",
    }
    assert json.loads(models.Attempt.objects.get().result) == {"token": "********"}
    home.end()
    with closing(sqlite3.connect(home.folder / "db.sqlite3")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    files = [file for file in home.folder.rglob("*") if file.is_file()]
    assert any(file.name == "spec.json" for file in files)
    assert [file for file in files if traces_in(file.read_bytes())] == []
    prefix = secretfiles.prefix_of(str(home.folder / "runs"))
    assert not [name for name in Path(secretfiles.MEMORY).iterdir() if name.name.startswith(prefix)]


@pytest.mark.parametrize("row", ["1 start committed", "3 launcher asked"])
def test_service_that_died_before_the_start_gives_them_anew(home: Home, row: str):
    secret = make_secret("the-value-before")
    crashed = home.start(crash_at=row)
    script = "import hashlib, os; print(hashlib.sha256(os.environ['API_TOKEN'].encode()).hexdigest())"
    instance_id = home.submit(script, secrets=["api-token"])
    crashed.wait(DEADLINE_SECONDS)
    if row == "1 start committed":
        actions.change_secret(secret, {"value": VALUE}, actor="ann", now=utc_now())
    home.start()
    assert home.until_all_ended() == {instance_id: "success"}
    meant = VALUE if row == "1 start committed" else "the-value-before"
    assert hashlib.sha256(meant.encode()).hexdigest() in printed(home, instance_id)


def test_node_with_another_key_rejects_and_says_so(home: Home):
    make_secret()
    (home.folder / "secrets_key").write_text(Fernet.generate_key().decode())
    home.start()
    instance_id = home.submit("print('ran')", secrets=["api-token"])
    assert home.until_all_ended() == {instance_id: "failed"}
    attempt = models.Attempt.objects.get()
    assert attempt.outcome == "rejected"
    assert "the secret api-token cannot be read with the keys of this node" in attempt.error
    assert any("api-token" in notice for notice in models.Node.objects.get().notices)
