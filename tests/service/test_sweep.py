"""What is kept no longer goes from the disk as well, and a crash between row and directory leaves neither a lie nor a
leak."""

import fcntl
import os
import signal
import time
from datetime import timedelta

import pytest
from django.core.management import call_command

from jobs.core.retention import FOR_EVER, Ended, Keep
from jobs.execution import claim, foldertree, keeping
from jobs.models import Event, Instance
from jobs.service.retention import Closing, Retention
from jobs.service.sweep import Sweep
from jobs.store import pruning
from tests.store.test_pruning import NOW, make_job, ran
from tests.waiting import until

pytestmark = pytest.mark.django_db

SITE = Keep(30, 90, FOR_EVER)
MB = 1024 * 1024


@pytest.fixture
def data(tmp_path, settings):
    settings.DATA_DIR = tmp_path
    (tmp_path / "runs").mkdir()
    return tmp_path


def sweep(data, runs_mb=FOR_EVER, site=SITE, rest=bool):
    return Sweep(data, "node:atlas", site, runs_mb, rest)


def swept(data, runs_mb=FOR_EVER, site=SITE):
    one = sweep(data, runs_mb, site)
    one.prune_history(NOW)
    one.make_room(NOW)
    one.finish(NOW)
    return keeping.read(data)


def directory(data, instance_id, size=1000, hours=48):
    attempt = data / "runs" / str(instance_id) / "1-abcdefgh"
    (attempt / "log").mkdir(parents=True)
    (attempt / "log" / "0.log").write_bytes(b"x" * size)
    (attempt / "claim").write_bytes(b"x")
    touched(attempt.parent, hours)
    return attempt


def touched(path, hours):
    then = time.time() - 3600 * hours
    os.utime(path, (then, then))


def here(data):
    return sorted(int(path.name) for path in (data / "runs").iterdir())


def test_directories_go_with_their_rows(data):
    job = make_job()
    old, young = ran(job, 40), ran(job, 1)
    directory(data, old.pk)
    directory(data, young.pk)
    kept = swept(data)
    assert here(data) == [young.pk]
    assert (kept.removed["instances"], kept.removed["directories"]) == (1, 1)
    told = Event.objects.get(kind="history.pruned")
    assert (told.actor, told.data) == ("node:atlas", dict(kept.removed))


def test_sweep_that_removes_nothing_tells_nothing(data):
    directory(data, ran(make_job(), 1).pk)
    kept = swept(data)
    assert not Event.objects.exists()
    assert (kept.removed, kept.removed_at, kept.swept_at) == ({}, "", NOW.isoformat())
    assert kept.runs_bytes >= 1000


def test_crash_between_row_and_directory_leaks_nothing(data, monkeypatch):
    job = make_job()
    old = ran(job, 40)
    directory(data, old.pk)
    ran(job, 1)

    def crash(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(Sweep, "_remove_directories", crash)
        with pytest.raises(KeyboardInterrupt):
            sweep(data).prune_history(NOW)
    assert not Instance.objects.filter(pk=old.pk).exists()
    assert here(data) == [old.pk]
    swept(data)
    assert here(data) == []


def test_sweep_may_be_ended_between_any_two_portions(data, monkeypatch):
    monkeypatch.setattr(pruning, "PORTION", 1)
    job = make_job()
    for _ in range(4):
        directory(data, ran(job, 40).pk)
    ran(job, 1)

    def close():
        raise Closing

    for left in (3, 2):
        with pytest.raises(Closing):
            sweep(data, rest=close).prune_history(NOW)
        assert len(here(data)) == left == Instance.objects.filter(ended_at__lt=NOW - timedelta(days=30)).count()


def test_room_is_made_oldest_first_and_successes_first(data):
    job = make_job()
    failed, first, second, last = ran(job, 9, "failed"), ran(job, 8), ran(job, 7), ran(job, 6)
    for one in (failed, first, second, last):
        directory(data, one.pk, MB)
    kept = swept(data, runs_mb=3)
    assert here(data) == [failed.pk, last.pk]
    assert Instance.objects.count() == 4
    assert kept.runs_bytes < 3 * MB
    assert swept(data, runs_mb=1).runs_bytes == 0  # each of them takes a little more than its log
    assert here(data) == []
    runs = [Ended(one.pk, one.status, one.ended_at) for one in (failed, first, last)]
    assert [keeping.read(data).removed_on(run) for run in runs] == [NOW] * 3


def test_what_was_not_removed_for_room_is_not_said_to_be(data):
    job = make_job()
    first, last = ran(job, 8), ran(job, 6)
    for one in (first, last):
        directory(data, one.pk, MB)
    kept = swept(data, runs_mb=2)
    assert kept.removed_on(Ended(first.pk, "success", first.ended_at)) == NOW
    assert kept.removed_on(Ended(last.pk, "success", last.ended_at)) is None
    assert kept.removed_on(Ended(first.pk, "failed", first.ended_at)) is None


def test_runs_that_end_later_count_too(data):
    job = make_job()
    one = sweep(data, runs_mb=2)
    one.make_room(NOW - timedelta(days=9))
    for made in (ran(job, 8), ran(job, 7), ran(job, 6)):
        directory(data, made.pk, MB)
    one.make_room(NOW)
    assert here(data) == [made.pk]


def test_nothing_under_a_runner_goes(data):
    ran(make_job(), 1, pk=100)
    held, free = directory(data, 50), directory(data, 51)
    pid = os.fork()
    if not pid:
        fd = os.open(held / claim.CLAIM, os.O_RDWR)
        fcntl.lockf(fd, fcntl.LOCK_EX)
        os.kill(os.getpid(), signal.SIGSTOP)  # it has the lock
        os._exit(0)
    os.waitpid(pid, os.WUNTRACED)
    try:
        swept(data)
        assert here(data) == [50]
        assert not free.exists()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_directories_of_another_database_stay(data):
    """The service was started with a new, empty one: what it has not made, it does not know."""
    directory(data, 4711)
    swept(data)
    ran(make_job(), 1)
    swept(data)
    assert here(data) == [4711]


def test_directory_that_was_just_made_is_no_orphan(data):
    ran(make_job(), 1, pk=100)
    directory(data, 50, hours=0)
    directory(data, 51)
    swept(data)
    assert here(data) == [50]


def test_voids_of_ended_runs_go(data):
    ended = ran(make_job(), 1)
    void = directory(data, ended.pk).with_name("1-abcdefgh.void1")
    void.mkdir()
    touched(void, hours=2)
    swept(data)
    assert [path.name for path in (data / "runs" / str(ended.pk)).iterdir()] == ["1-abcdefgh"]


def test_broken_file_of_what_is_known_begins_anew(data):
    (data / keeping.FILE).write_text('{"room": {"succeeded": [["never"]]}}')
    assert keeping.read(data) == keeping.Kept()
    assert swept(data).swept_at == NOW.isoformat()


def test_many_days_of_making_room_are_a_line_each():
    kept = keeping.Kept()
    for hour in range(72):
        now = NOW + timedelta(hours=hour)
        kept = kept.making_room(Ended(hour, "success", now - timedelta(days=5)), now)
    assert len(kept.room["succeeded"]) == 4


def test_folder_too_deep_for_any_path_goes(tmp_path):
    top = tmp_path / "work"
    top.mkdir()
    at = os.open(top, os.O_RDONLY)
    for depth in range(1100):
        os.mkdir("inner", dir_fd=at)
        inner = os.open("inner", os.O_RDONLY, dir_fd=at)
        os.close(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=inner))
        if depth % 7 == 0:
            os.fchmod(at, 0)
        os.close(at)
        at = inner
    os.close(at)
    (tmp_path / "kept").write_text("not ours")
    top.chmod(0o700)
    (top / "link").symlink_to(tmp_path)
    (top / ".rota-1").write_text("a name of its own")
    assert foldertree.size_of(str(top)) > 0
    assert foldertree.remove_tree(str(top)) > 0
    assert not top.exists()
    assert (tmp_path / "kept").exists()


def test_command_counts_first_and_then_removes(data, capsys):
    job = make_job()
    old = ran(job, 400, "failed")
    directory(data, old.pk)
    ran(job, 1)
    call_command("prune", "--dry-run")
    assert capsys.readouterr().out.split("\n")[:2] == [
        "         1  report",
        "         1  in all would be removed. Nothing was.",
    ]
    assert Instance.objects.count() == 2
    call_command("prune")
    assert capsys.readouterr().out.startswith("Removed: 1 runs, 0 events.")
    assert (Instance.objects.count(), here(data)) == (1, [])


def test_command_says_that_the_last_hour_is_kept(data, capsys):
    ran(make_job(keep_instances=1), 0)
    call_command("prune", "--dry-run")
    assert capsys.readouterr().out == "Nothing would be removed. What ended within the last hour is kept.\n"


def test_thread_ends_when_it_is_told(data):
    one = Retention("node:atlas")
    one.open()
    one.close()
    until(lambda: not one._thread.is_alive())  # close() waits some seconds at most
