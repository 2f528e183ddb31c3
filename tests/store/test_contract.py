"""What a store promises, put to the memory store, the ORM on SQLite and the ORM on PostgreSQL."""

from dataclasses import replace

import pytest

from jobs.core.decisions import (
    Begin,
    Birth,
    Dismiss,
    Finish,
    Fire,
    Flag,
    Pause,
    Queue,
    Skip,
    Start,
    Wait,
    Withdraw,
)
from jobs.core.order import ByPriority, Entry
from jobs.core.records import Allocation, Blame, Hold, Outcome
from jobs.core.states import OutcomeKind, Status
from tests.store.benches import NOW, Bench, at

KEY = ByPriority().key(Entry(1, NOW, NOW))


def start(
    bench: Bench, instance_id: int, attempt: int = 1, token: str = "", revision: int = 1, job_id: int = 0
) -> Start:
    job_id = job_id or bench.instance(instance_id).job_id
    return Start(instance_id, job_id, revision, attempt, token or f"t{instance_id}-{attempt}", Allocation((0,), 1, 64))


def finish(
    bench: Bench, instance_id: int, kind: OutcomeKind, status: Status, attempt: int = 1, job_id: int = 0, **more
) -> Finish:
    job_id = job_id or bench.instance(instance_id).job_id
    outcome = Outcome(kind, at(5), started_at=at(1), exit_code=0, duration_seconds=4.0)
    return Finish(instance_id, job_id, f"t{instance_id}-{attempt}", attempt, outcome, status, **more)


def fire(job_id: int, schedule_id: int, seconds: float = 60, reason: str = "", revision: int = 1) -> Fire:
    birth = Birth(job_id, at(seconds), at(seconds), Status.QUEUED, NOW, KEY, bound=1)
    births = () if reason else (birth,)
    skips = (Skip("overlap", reason, at(seconds)),) if reason else ()
    return Fire(schedule_id, job_id, revision, at(seconds), at(seconds + 60), births=births, skips=skips)


def running(bench: Bench) -> int:
    instance_id = bench.submit(bench.job())
    bench.commit(start(bench, instance_id))
    return instance_id


def test_start_makes_one_attempt_in_flight(bench: Bench):
    instance_id = bench.submit(bench.job())
    committed = bench.commit(start(bench, instance_id))
    assert not committed.refused_instances
    assert bench.instance(instance_id).status is Status.RUNNING
    assert bench.attempts_in_flight(instance_id) == 1


def test_second_start_is_refused(bench: Bench):
    instance_id = running(bench)
    assert bench.commit(start(bench, instance_id, token="other")).refused_instances == {instance_id}
    assert bench.attempts_in_flight(instance_id) == 1


def test_start_of_a_cancelled_instance_is_refused(bench: Bench):
    instance_id = bench.submit(bench.job())
    bench.cancel(instance_id)
    assert bench.commit(start(bench, instance_id)).refused_instances == {instance_id}
    assert bench.instance(instance_id).status is Status.CANCELLED


def test_start_of_an_edited_job_is_refused(bench: Bench):
    job_id = bench.job()
    instance_id = bench.submit(job_id)
    bench.edit(job_id)
    assert bench.commit(start(bench, instance_id)).refused_instances == {instance_id}
    assert not bench.commit(start(bench, instance_id, revision=2)).refused_instances


def test_start_of_a_paused_job_is_refused(bench: Bench):
    job_id = bench.job()
    instance_id = bench.submit(job_id)
    bench.pause(job_id)
    assert bench.commit(start(bench, instance_id)).refused_instances == {instance_id}


def test_finish_ends_instance_and_attempt(bench: Bench):
    instance_id = running(bench)
    bench.commit(finish(bench, instance_id, OutcomeKind.SUCCESS, Status.SUCCESS))
    assert bench.instance(instance_id).status is Status.SUCCESS
    assert bench.outcomes(instance_id) == ["success"]


def test_abandoned_attempt_counts_as_ended(bench: Bench):
    instance_id = running(bench)
    bench.commit(finish(bench, instance_id, OutcomeKind.TIMEOUT, Status.TIMEOUT, abandoned=True))
    assert bench.instance(instance_id).status is Status.TIMEOUT
    assert bench.attempts_in_flight(instance_id) == 0


def test_finish_a_second_time_is_refused(bench: Bench):
    instance_id = running(bench)
    done = finish(bench, instance_id, OutcomeKind.SUCCESS, Status.SUCCESS)
    bench.commit(done)
    events = bench.events(instance_id)
    assert bench.commit(done).refused_instances == {instance_id}
    assert bench.events(instance_id) == events


def test_finish_with_another_token_changes_nothing(bench: Bench):
    instance_id = running(bench)
    stale = finish(bench, instance_id, OutcomeKind.FAILED, Status.FAILED, attempt=7)
    assert bench.commit(stale).refused_instances == {instance_id}
    assert bench.instance(instance_id).status is Status.RUNNING


def test_failure_waits_and_is_queued_in_its_place(bench: Bench):
    instance_id = running(bench)
    place = bench.instance(instance_id).order_key
    bench.commit(finish(bench, instance_id, OutcomeKind.FAILED, Status.RETRYING, retry_at=at(60)))
    assert bench.instance(instance_id).retry_at == at(60)
    job_id = bench.instance(instance_id).job_id
    bench.commit(Queue(instance_id, job_id, Status.RETRYING, at(60), KEY + 999))
    assert bench.instance(instance_id).status is Status.QUEUED
    assert bench.instance(instance_id).order_key == place


def test_attempts_are_numbered_from_one(bench: Bench):
    instance_id = running(bench)
    bench.commit(finish(bench, instance_id, OutcomeKind.LOST, Status.QUEUED))
    assert bench.commit(start(bench, instance_id, attempt=1, token="x")).refused_instances == {instance_id}
    bench.commit(start(bench, instance_id, attempt=2))
    assert bench.instance(instance_id).attempts == 2
    assert bench.instance(instance_id).lost_attempts == 1
    assert bench.outcomes(instance_id) == ["lost"]


def test_wish_to_cancel_wins_over_a_retry(bench: Bench):
    instance_id = running(bench)
    bench.cancel(instance_id)
    bench.commit(finish(bench, instance_id, OutcomeKind.FAILED, Status.RETRYING, retry_at=at(60)))
    assert bench.instance(instance_id).status is Status.CANCELLED
    assert bench.instance(instance_id).retry_at is None


def test_cancel_after_the_end_changes_nothing(bench: Bench):
    instance_id = running(bench)
    bench.commit(finish(bench, instance_id, OutcomeKind.SUCCESS, Status.SUCCESS))
    bench.cancel(instance_id)
    assert bench.instance(instance_id).status is Status.SUCCESS


def test_pending_instance_is_queued_once(bench: Bench):
    instance_id = bench.submit(bench.job(), at(60))
    queue = Queue(instance_id, bench.instance(instance_id).job_id, Status.PENDING, at(60), KEY)
    assert not bench.commit(queue).refused_instances
    assert bench.commit(queue).refused_instances == {instance_id}


def test_what_another_was_first_to_queue_is_not_started(bench: Bench):
    """Its engine forgot it, for its move was refused: it never ran, and never gave its cores back."""
    instance_id = bench.submit(bench.job(), at(60))
    queue = Queue(instance_id, bench.instance(instance_id).job_id, Status.PENDING, at(60), KEY)
    bench.commit(queue)
    assert bench.commit(queue, start(bench, instance_id)).refused_instances == {instance_id}
    assert bench.instance(instance_id).status is Status.QUEUED
    assert bench.attempts_in_flight(instance_id) == 0


def test_fire_makes_one_instance_for_its_date(bench: Bench):
    job_id = bench.job()
    schedule_id = bench.schedule(job_id)
    born = bench.commit(fire(job_id, schedule_id)).born
    assert [i.id for i in born] == bench.instances_of(job_id)
    assert born[0].logical_at == at(60)
    assert bench.instance(born[0].id) == born[0]


def test_same_fire_again_is_refused(bench: Bench):
    job_id = bench.job()
    schedule_id = bench.schedule(job_id)
    bench.commit(fire(job_id, schedule_id))
    assert bench.commit(fire(job_id, schedule_id)).refused_schedules == {schedule_id}
    assert len(bench.instances_of(job_id)) == 1


def test_earlier_fire_after_a_later_is_refused(bench: Bench):
    job_id = bench.job()
    schedule_id = bench.schedule(job_id)
    bench.commit(fire(job_id, schedule_id, 120))
    assert bench.commit(fire(job_id, schedule_id, 60)).refused_schedules == {schedule_id}


def test_fire_of_an_edited_job_is_refused(bench: Bench):
    job_id = bench.job()
    schedule_id = bench.schedule(job_id)
    bench.edit(job_id)
    assert bench.commit(fire(job_id, schedule_id)).refused_schedules == {schedule_id}


def test_fire_over_an_unfinished_instance_makes_none(bench: Bench):
    job_id = bench.job()
    schedule_id = bench.schedule(job_id)
    instance_id = bench.submit(job_id)
    committed = bench.commit(fire(job_id, schedule_id))
    assert committed.born == ()
    assert bench.instances_of(job_id) == [instance_id]
    assert bench.events()[-1] == "schedule.skipped"


def test_skipped_fire_still_counts_as_fired(bench: Bench):
    job_id = bench.job()
    schedule_id = bench.schedule(job_id)
    bench.commit(fire(job_id, schedule_id, reason="overlap: instance 1 has not ended"))
    assert bench.commit(fire(job_id, schedule_id)).refused_schedules == {schedule_id}


def test_set_aside_schedule_says_so(bench: Bench):
    job_id = bench.job()
    bench.commit(Flag(bench.schedule(job_id), job_id, "its zone is gone"))
    assert bench.events()[-1] == "schedule.flagged"


def test_reason_is_kept_while_it_waits(bench: Bench):
    instance_id = bench.submit(bench.job())
    wait = Wait(instance_id, bench.instance(instance_id).job_id, Hold("cores"))
    bench.commit(wait)
    assert bench.hold(instance_id) == "cores"
    bench.commit(start(bench, instance_id))
    assert not bench.commit(wait).refused_instances


def test_every_move_leaves_one_event(bench: Bench):
    instance_id = running(bench)
    job_id = bench.instance(instance_id).job_id
    bench.commit(Begin(instance_id, job_id, f"t{instance_id}-1", 1, at(1)))
    bench.commit(finish(bench, instance_id, OutcomeKind.SUCCESS, Status.SUCCESS))
    assert bench.events(instance_id) == ["instance.queued", "instance.started", "attempt.began", "instance.ended"]


@pytest.mark.parametrize("count", [1, 500])
def test_a_whole_group_goes_together(bench: Bench, count: int):
    job_id = bench.job()
    ids = [bench.submit(job_id) for _ in range(count)]
    bench.commit(*(start(bench, i, job_id=job_id) for i in ids))
    bench.commit(*(finish(bench, i, OutcomeKind.SUCCESS, Status.SUCCESS, job_id=job_id) for i in ids))
    assert {bench.instance(i).status for i in ids} == {Status.SUCCESS}


def test_set_aside_start_fails_what_waits(bench: Bench):
    instance_id = bench.submit(bench.job())
    bench.set_aside(start(bench, instance_id))
    assert bench.instance(instance_id).status is Status.FAILED


def test_set_aside_finish_keeps_its_kind(bench: Bench):
    instance_id = running(bench)
    bench.set_aside(finish(bench, instance_id, OutcomeKind.TIMEOUT, Status.TIMEOUT))
    assert bench.instance(instance_id).status is Status.TIMEOUT
    assert bench.outcomes(instance_id) == ["timeout"]


def test_set_aside_fire_flags_its_schedule(bench: Bench):
    job_id = bench.job()
    bench.set_aside(fire(job_id, bench.schedule(job_id)))
    assert bench.events()[-1] == "schedule.flagged"


def births(job_id: int, below: int, seconds: float = 60) -> tuple[Birth, ...]:
    own = Birth(job_id, at(seconds), at(seconds), Status.QUEUED, NOW, KEY, serial=True)
    return own, Birth(below, at(seconds), at(seconds + 30), Status.PENDING, serial=True)


def test_fire_makes_the_whole_workflow(bench: Bench):
    root, below = bench.job(), bench.job()
    schedule_id = bench.schedule(root)
    born = bench.commit(Fire(schedule_id, root, 1, at(60), at(120), births=births(root, below))).born
    assert [(i.job_id, i.status, i.serial) for i in born] == [
        (root, Status.QUEUED, True),
        (below, Status.PENDING, True),
    ]
    assert [bench.instance(i.id) for i in born] == list(born)


def test_two_roots_make_what_is_below_them_once(bench: Bench):
    one, other, below = bench.job(), bench.job(), bench.job()
    fires = [Fire(bench.schedule(root), root, 1, at(60), at(120), births=births(root, below)) for root in (one, other)]
    assert len(bench.commit(*fires).born) == 3
    assert len(bench.instances_of(below)) == 1


def test_a_bound_that_is_reached_makes_nothing_of_the_date(bench: Bench):
    root, below = bench.job(), bench.job()
    schedule_id = bench.schedule(root)
    bench.submit(root)
    own, dependent = births(root, below)
    bound = replace(own, bound=1)
    committed = bench.commit(Fire(schedule_id, root, 1, at(60), at(120), births=(bound, dependent)))
    assert committed.born == ()
    assert bench.instances_of(below) == []


def test_one_fire_makes_several_dates(bench: Bench):
    job_id = bench.job()
    schedule_id = bench.schedule(job_id)
    made = tuple(Birth(job_id, at(n), at(n), Status.QUEUED, NOW, KEY) for n in (60, 120, 180))
    born = bench.commit(Fire(schedule_id, job_id, 1, at(180), at(240), births=made)).born
    assert [i.logical_at for i in born] == [at(60), at(120), at(180)]


def test_each_skip_leaves_an_event(bench: Bench):
    job_id = bench.job()
    skips = (Skip("blackout", "falls in a freeze", at(60), 3), Skip("overlap", "one has not ended", at(120)))
    bench.commit(Fire(bench.schedule(job_id), job_id, 1, at(120), at(180), skips=skips))
    assert bench.events() == ["schedule.skipped", "schedule.skipped"]


def test_dismissed_instance_ends_with_its_reason(bench: Bench):
    above, below = running(bench), bench.submit(bench.job(), at(60))
    blame = Blame(above, "extract", Status.RUNNING)
    job_id = bench.instance(below).job_id
    gone = Dismiss(below, job_id, Status.PENDING, Status.UPSTREAM_FAILED, "upstream_failed", "it failed", blame)
    assert not bench.commit(gone).refused_instances
    assert bench.instance(below).status is Status.UPSTREAM_FAILED
    assert bench.instance(below).blame.instance_id == above
    assert bench.commit(gone).refused_instances == {below}


def test_withdrawn_instance_is_asked_to_stop_once(bench: Bench):
    instance_id = running(bench)
    wish = Withdraw(instance_id, bench.instance(instance_id).job_id, "was replaced")
    for _ in range(2):
        assert not bench.commit(wish).refused_instances
    assert bench.instance(instance_id).cancel_requested
    assert bench.events(instance_id).count("instance.cancel_requested") == 1


def test_paused_job_starts_nothing_more(bench: Bench):
    job_id = bench.job()
    instance_id = bench.submit(job_id)
    bench.commit(Pause(job_id, "failed 3 times in a row"))
    assert bench.commit(start(bench, instance_id)).refused_instances == {instance_id}
