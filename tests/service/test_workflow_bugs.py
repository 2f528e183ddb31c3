"""What has gone wrong in other schedulers with dependencies (bugs.json), and more of the kind, with the service."""

from datetime import datetime, timedelta

import pytest

from jobs import actions, models
from jobs.core.inputs import Ended
from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind
from tests.service.clockwork import START, Clockwork

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
HOURLY = {"schedule_type": "cron", "schedule_expression": "0 * * * *"}


@pytest.fixture
def clockwork(each_database, settings, tmp_path) -> Clockwork:
    settings.DATA_DIR, settings.MIN_FREE_DISK_MB = tmp_path, 0
    return Clockwork(cores=4)


def make(clockwork: Clockwork, name: str, *upstreams: str, **fields) -> models.Job:
    raw = {"name": name, "command": "true", "depends_on": list(upstreams), **fields}
    created = actions.create_job(raw, actor="ann", now=clockwork.hands.wall, start=False)
    return models.Job.objects.get(pk=created.job_id)


def abc(clockwork: Clockwork, **root) -> list[models.Job]:
    """a -> b -> c, hourly."""
    return [make(clockwork, "a", **HOURLY | root), make(clockwork, "b", "a"), make(clockwork, "c", "b")]


def end(clockwork: Clockwork, kind: OutcomeKind = OutcomeKind.SUCCESS, job: str = "") -> None:
    """All that runs, or what runs of this job."""
    for token, launch in list(clockwork.processes.running.items()):
        if job in ("", name_of(launch.instance_id)):
            outcome = Outcome(kind, clockwork.hands.wall, duration_seconds=1.0, exit_code=int(kind != "success"))
            clockwork.mailbox.put(Ended(launch.instance_id, token, outcome))
            del clockwork.processes.running[token]
    clockwork.turn()


def name_of(instance_id: int) -> str:
    return models.Instance.objects.values_list("job__name", flat=True).get(pk=instance_id)


def running(clockwork: Clockwork) -> list[str]:
    return sorted(name_of(launch.instance_id) for launch in clockwork.processes.running.values())


def standing() -> dict[str, str]:
    rows = models.Instance.objects.order_by("generation").values_list("job__name", "status")
    return dict(rows)


def dates_of(name: str) -> list[datetime]:
    rows = models.Instance.objects.filter(job__name=name).order_by("logical_at")
    return list(rows.values_list("logical_at", flat=True))


def test_bug_051_dependents_wait_for_the_retry(clockwork):
    abc(clockwork, max_retries=1, retry_delay_seconds=60, retry_jitter=False)
    clockwork.start()
    clockwork.wait(1800)
    end(clockwork, OutcomeKind.FAILED)
    assert standing() == {"a": "retrying", "b": "pending", "c": "pending"}
    clockwork.wait(61)
    clockwork.end_all()
    assert set(standing().values()) == {"success"}


def test_bug_055_missed_dates_are_paired(clockwork):
    jobs = [make(clockwork, "a", **HOURLY, catch_up="all", catch_up_limit=5), make(clockwork, "b", "a")]
    clockwork.start()
    clockwork.hands.pass_(5 * 3600)  # nothing runs, and then it starts again
    clockwork.start()
    clockwork.end_all()
    expected = [START + timedelta(minutes=30) + n * HOUR for n in range(5)]
    assert [dates_of(job.name) for job in jobs] == [expected, expected]
    assert set(models.Instance.objects.values_list("status", flat=True)) == {"success"}


def test_bug_056_nothing_before_a_new_start(clockwork):
    root, *_ = abc(clockwork, schedule_expression="0 0 * * *")
    clockwork.start()
    actions.pause_job(root.pk, actor="ann", now=clockwork.hands.wall)
    clockwork.run_to(START + timedelta(days=2))
    start = START.replace(hour=0, minute=0) + timedelta(days=5)
    actions.change_job(root.pk, {"start_date": start.isoformat()}, actor="ann", now=clockwork.hands.wall)
    actions.resume_job(root.pk, actor="ann", now=clockwork.hands.wall)
    clockwork.turn()
    clockwork.run_to(START + timedelta(days=7))
    assert dates_of("c") == dates_of("a") == [start, start + timedelta(days=1), start + timedelta(days=2)]


def test_a_restart_in_the_middle_goes_on(clockwork):
    abc(clockwork)
    clockwork.start()
    clockwork.wait(1800)
    for expected in ("a", "b", "c"):
        assert running(clockwork) == [expected]
        clockwork.start()
        assert running(clockwork) == [expected]
        end(clockwork)
        clockwork.start()
    assert set(standing().values()) == {"success"}
    assert models.Attempt.objects.count() == 3


def test_a_restart_finds_what_ended_meanwhile(clockwork):
    abc(clockwork)
    clockwork.start()
    clockwork.wait(1800)
    ((token, _),) = clockwork.processes.running.items()
    clockwork.processes.running.clear()
    clockwork.start({token: Outcome(OutcomeKind.FAILED, clockwork.hands.wall, exit_code=1)})
    assert standing() == {"a": "failed", "b": "upstream_failed", "c": "upstream_failed"}


def test_two_nodes_start_no_dependent_early_or_twice(clockwork):
    other = Clockwork(cores=4, name="there")
    other.hands = clockwork.hands
    make(clockwork, "a", **HOURLY), make(clockwork, "z", **HOURLY)
    for n in range(4):
        make(clockwork, f"b{n}", "a", "z")
    make(clockwork, "c", *(f"b{n}" for n in range(4)))
    for node in (clockwork, other):
        node.start()
    clockwork.hands.pass_(1800)
    for _ in range(12):
        for node in (other, clockwork):
            node.turn()
        for node in (clockwork, other):
            end(node)
    rows = {row.job.name: row for row in models.Instance.objects.select_related("job")}
    assert {row.status for row in rows.values()} == {"success"}
    assert models.Attempt.objects.count() == len(rows) == 7
    first = {name: rows[name].attempts.get().pk for name in rows}
    assert max(first["a"], first["z"]) < min(first[f"b{n}"] for n in range(4))
    assert max(first[f"b{n}"] for n in range(4)) < first["c"]


def test_a_retry_brings_the_date_to_its_end(clockwork):
    abc(clockwork)
    clockwork.start()
    clockwork.wait(1800)
    end(clockwork, OutcomeKind.FAILED)
    assert standing()["c"] == "upstream_failed"
    assert models.Instance.objects.get(job__name="c").blame.job.name == "a"
    failed = models.Instance.objects.get(job__name="a")
    actions.retry_instance(failed.pk, actor="ann", now=clockwork.hands.wall)
    clockwork.turn()
    clockwork.end_all()
    assert standing() == {"a": "success", "b": "success", "c": "success"}
    assert len(set(models.Instance.objects.values_list("logical_at", flat=True))) == 1


def test_a_dependent_by_hand_goes_by_its_date(clockwork):
    a, b, _ = abc(clockwork)
    clockwork.start()
    actions.run_job(a.pk, actor="ann", now=clockwork.hands.wall, scope="job")
    clockwork.turn()
    end(clockwork, OutcomeKind.FAILED)
    actions.run_job(b.pk, actor="ann", now=clockwork.hands.wall)
    clockwork.turn()
    assert standing() == {"a": "failed", "b": "upstream_failed"}


def test_an_upstream_cancelled_in_the_same_look_is_seen(clockwork):
    a, b, _ = abc(clockwork)
    clockwork.start()
    actions.pause_job(a.pk, actor="ann", now=clockwork.hands.wall)
    above = actions.run_job(a.pk, actor="ann", now=clockwork.hands.wall, scope="job")
    actions.cancel_instance(above.instance_id, actor="ann", now=clockwork.hands.wall)
    actions.run_job(b.pk, actor="ann", now=clockwork.hands.wall)
    clockwork.turn()
    assert standing() == {"a": "cancelled", "b": "upstream_failed"}


def test_an_upstream_added_later_counts_as_it_stands(clockwork):
    a, b, _ = abc(clockwork)
    other = make(clockwork, "other", **HOURLY)
    clockwork.start()
    clockwork.wait(1800)
    end(clockwork, job="other")
    actions.change_job(b.pk, {"depends_on": ["a", "other"]}, actor="ann", now=clockwork.hands.wall)
    clockwork.turn()
    end(clockwork, job="a")
    assert running(clockwork) == ["b"]
    assert {a.pk, other.pk} == set(b.upstreams.values_list("pk", flat=True))


def test_deleting_an_upstream_lets_what_waits_go(clockwork):
    a, b, _ = abc(clockwork)
    clockwork.start()
    actions.run_job(b.pk, actor="ann", now=clockwork.hands.wall)
    clockwork.turn()
    assert running(clockwork) == []
    actions.delete_job(a.pk, actor="ann", now=clockwork.hands.wall, release=True)
    clockwork.turn()
    assert running(clockwork) == ["b"]


def test_a_backfill_runs_to_its_end_oldest_first(clockwork):
    a, *_ = abc(clockwork)
    clockwork.start()
    last = START.replace(minute=0)
    actions.create_backfill(a.pk, last - 3 * HOUR, last, actor="ann", now=clockwork.hands.wall)
    for _ in range(20):
        clockwork.loop._backfills.advance(clockwork.hands.wall)
        clockwork.turn()
        assert models.Instance.objects.exclude(status="success").values("logical_at").distinct().count() <= 1
        clockwork.end_all()
    assert dates_of("c") == [last - n * HOUR for n in (3, 2, 1, 0)]
    assert models.Backfill.objects.get().status == "done"
    assert set(models.Instance.objects.values_list("status", flat=True)) == {"success"}


def test_a_fire_is_not_skipped_for_a_backfill(clockwork):
    a = make(clockwork, "a", **HOURLY)
    clockwork.start()
    last = START.replace(minute=0)
    actions.create_backfill(a.pk, last - 3 * HOUR, last, actor="ann", now=clockwork.hands.wall)
    clockwork.turn()  # it is made
    clockwork.turn()  # and started
    clockwork.wait(1800)
    own = models.Instance.objects.get(cause="schedule")
    assert own.status == "queued"
    assert len(clockwork.processes.running) == 1
    end(clockwork)
    assert {launch.instance_id for launch in clockwork.processes.running.values()} == {own.pk}


def test_a_workflow_run_twice_in_one_second_ends_twice(clockwork):
    a, *_ = abc(clockwork)
    clockwork.start()
    for _ in range(2):
        actions.run_job(a.pk, actor="ann", now=clockwork.hands.wall, scope="workflow")
    for _ in range(4):
        clockwork.turn()
        clockwork.end_all()
    assert list(models.Instance.objects.values_list("status", flat=True)) == ["success"] * 6


def test_a_backfill_beside_real_fires_makes_each_date_once(clockwork):
    a = make(clockwork, "a", schedule_type="cron", schedule_expression="* * * * *")
    clockwork.start()
    clockwork.run_to(START + 2 * MINUTE)
    actions.create_backfill(
        a.pk, START - 2 * MINUTE, START + 2 * MINUTE, actor="ann", now=clockwork.hands.wall, concurrency=2
    )
    for _ in range(4):
        clockwork.turn()
        clockwork.run_to(clockwork.hands.wall + MINUTE)
    assert sorted(dates_of("a")) == [START + n * MINUTE for n in range(-2, 7)]
    assert set(models.Instance.objects.values_list("status", flat=True)) == {"success"}
    assert models.Backfill.objects.get().status == "done"


def test_a_backfill_below_failed_dates_ends_each_in_the_next_pass(clockwork):
    """A job that was added to a workflow whose dates have failed: made one by one, and none of them stays."""
    make(clockwork, "a", schedule_type="cron", schedule_expression="* * * * *", max_retries=0)
    clockwork.start()
    for _ in range(3):
        clockwork.wait(60)
        end(clockwork, OutcomeKind.FAILED)
    b = make(clockwork, "b", "a")
    actions.create_backfill(b.pk, START + MINUTE, START + 3 * MINUTE, actor="ann", now=clockwork.hands.wall)
    for made in (1, 2, 3, 3):
        waited = set(models.Instance.objects.filter(job=b, status="pending").values_list("pk", flat=True))
        clockwork.turn()
        assert len(dates_of("b")) == made
        assert not models.Instance.objects.filter(pk__in=waited, status="pending").exists()
    assert set(models.Instance.objects.filter(job=b).values_list("status", flat=True)) == {"upstream_failed"}
    assert models.Backfill.objects.get().status == "done"
