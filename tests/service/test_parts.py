"""Capacity, disk guard, mailbox, identity, notices: each by itself."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.core import mail

from jobs import models
from jobs.core.inputs import JobGone
from jobs.service import disk, registration
from jobs.service.capacity import Cgroups, cpu_quota, measure, memory_total_mb, named
from jobs.service.disk import DiskGuard
from jobs.service.mailbox import Mailbox
from jobs.service.notices import Notice, notice_of, send
from jobs.store.dismissals import PAUSED_BY
from tests.store.benches import NOW
from tests.waiting import DEADLINE_SECONDS, until

# --- capacity ---


def test_cores_beyond_the_machine_are_told():
    capacity = measure(500, 1.5, None)
    assert len(capacity.cores) == 500
    assert "bookkeeping only" in capacity.notices[0]


def test_named_cores_begin_with_the_allowed_ones():
    assert named(3, [2, 5]) == (2, 5, 6)
    assert named(1, [2, 5]) == (2,)


def cgroups(tmp_path, membership, files) -> Cgroups:
    (tmp_path / "membership").write_text(membership)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return Cgroups(tmp_path, tmp_path / "membership")


def test_quota_lowers_the_cores_given_out(tmp_path):
    limited = cgroups(tmp_path, "0::/rota.service\n", {"rota.service/cpu.max": "50000 100000\n"})
    capacity = measure(None, 1.5, None, limited)
    assert len(capacity.cores) == 1
    assert "quota of 0.5" in capacity.notices[0]


V1 = "7:cpu,cpuacct:/box\n4:memory:/box\n"


@pytest.mark.parametrize(("membership", "files", "quota"), [
    ("0::/", {"cpu.max": "max 100000"}, None),
    ("0::/", {"cpu.max": "150000 100000"}, 1.5),
    ("0::/a/b", {"a/b/cpu.max": "max 100000", "a/cpu.max": "50000 100000"}, 0.5),
    (V1, {"cpu,cpuacct/box/cpu.cfs_quota_us": "-1", "cpu,cpuacct/box/cpu.cfs_period_us": "100000"}, None),
    (V1, {"cpu,cpuacct/box/cpu.cfs_quota_us": "200000", "cpu,cpuacct/box/cpu.cfs_period_us": "100000"}, 2.0),
    ("", {}, None),
])  # fmt: skip
def test_quota_is_read_where_the_process_is(tmp_path, membership, files, quota):
    assert cpu_quota(cgroups(tmp_path, membership, files)) == quota


def test_memory_limit_is_read_where_the_process_is(tmp_path):
    limited = cgroups(tmp_path, V1, {"memory/box/memory.limit_in_bytes": str(512 * 1024 * 1024)})
    assert memory_total_mb(limited) == 512


# --- disk ---


def free(monkeypatch, megabytes):
    usage = type("Usage", (), {"free": megabytes * disk.MEGABYTE})
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda _: usage)


def test_low_disk_stops_and_room_starts_again(monkeypatch, tmp_path):
    guard = DiskGuard(tmp_path, 1000)
    free(monkeypatch, 999)
    full = guard.look("")
    assert "999 MB free" in full
    free(monkeypatch, 1050)
    assert guard.look(full) == full
    free(monkeypatch, 1100)
    assert guard.look(full) == ""


def test_limit_of_zero_never_stops(monkeypatch, tmp_path):
    free(monkeypatch, 0)
    assert DiskGuard(tmp_path, 0).look("") == ""


# --- mailbox ---


def test_put_wakes_the_one_that_waits():
    mailbox = Mailbox()
    waiter = threading.Thread(target=mailbox.wait, args=(time.monotonic() + 60,))
    waiter.start()
    until(lambda: mailbox._condition._waiters)
    mailbox.put(JobGone(1))
    waiter.join(DEADLINE_SECONDS)
    assert not waiter.is_alive()
    assert mailbox.take() == ([JobGone(1)], False)


def test_poke_is_taken_once():
    mailbox = Mailbox()
    mailbox.poke()
    mailbox.poke()
    assert mailbox.take() == ([], True)
    assert mailbox.take() == ([], False)


# --- identity ---


@pytest.mark.django_db
def test_incarnation_rises_at_each_start(tmp_path):
    capacity = measure(1, 1.0, 100)
    first = registration.register(tmp_path, "here", capacity, "1", NOW)
    again = registration.register(tmp_path, "renamed", capacity, "1", NOW)
    assert (first.pk, again.incarnation, again.name) == (again.pk, 2, "renamed")


@pytest.mark.django_db
def test_name_of_another_machine_is_refused(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    registration.register(tmp_path / "a", "here", measure(1, 1.0, 1), "1", NOW)
    with pytest.raises(registration.NodeNameTakenError, match="--node"):
        registration.register(tmp_path / "b", "here", measure(1, 1.0, 1), "1", NOW)


# --- notices ---


def failed_instance(**fields):
    job = models.Job.objects.create(name="nightly\nBcc: x", body="false", created_at=NOW, **fields)
    node = models.Node.objects.create(name="here")
    instance = models.Instance.objects.create(
        job=job, logical_at=NOW, due_at=NOW, created_at=NOW, status="failed", ended_at=NOW, error="exited with code 3",
        cause="manual", node=node,
    )  # fmt: skip
    return instance.pk


@pytest.mark.django_db
def test_site_and_job_receivers_are_told_once_each(settings):
    settings.NOTIFY_EMAIL = ["ops@example.org"]
    notice = notice_of(failed_instance(notify_email="ann@example.org, ops@example.org"))
    assert notice.emails == ("ops@example.org", "ann@example.org")


@pytest.mark.django_db
def test_mail_tells_why_and_has_one_subject_line(settings):
    settings.NOTIFY_EMAIL = ["ops@example.org"]
    send(notice_of(failed_instance()))
    assert mail.outbox[0].subject == "[Rota] nightly Bcc: x: failed"
    assert "exited with code 3" in mail.outbox[0].body


@pytest.mark.django_db
def test_nobody_to_tell_is_no_notice(settings):
    settings.NOTIFY_EMAIL, settings.NOTIFY_WEBHOOK = [], ""
    assert notice_of(failed_instance()) is None


@pytest.mark.django_db
def test_notice_says_that_the_job_was_paused(settings):
    settings.NOTIFY_EMAIL = ["ops@example.org"]
    paused = {"paused_at": NOW, "paused_by": PAUSED_BY, "failures_in_a_row": 3}
    notice = notice_of(failed_instance(**paused))
    assert notice.subject.endswith(": failed, and paused")
    assert "paused by rota after 3 failures in a row. Nothing of it starts until it is resumed." in notice.text
    assert json.loads(notice.as_json())["paused"] is True


def test_webhook_gets_the_facts_as_json():
    received = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    send(Notice(7, "nightly", "failed", "why", (), (f"http://127.0.0.1:{server.server_port}/hook",)))
    thread.join(DEADLINE_SECONDS)
    server.server_close()
    assert received[0]["instance_id"] == 7
    assert received[0]["error"] == "why"


def test_receiver_that_is_down_is_a_line_in_the_log(caplog):
    send(Notice(7, "nightly", "failed", "why", (), ("http://127.0.0.1:9/secret/path",)))
    assert "no webhook about instance 7" in caplog.text
    assert "secret" not in caplog.text
