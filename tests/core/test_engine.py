from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from jobs.core.decisions import Fire, Flag, Wait
from jobs.core.inputs import AdmissionChanged, Ended, InstanceGone, InstanceSeen, JobChanged
from jobs.core.records import Allocation, Demand, Outcome, Priority, RetryPolicy
from jobs.core.states import OutcomeKind, Status
from tests.core.world import START, World

RETRY_TWICE = RetryPolicy(max_retries=2, delay_seconds=10, jitter=False)


@dataclass(frozen=True)
class Every:
    seconds: float
    anchor: datetime = START

    def next_after(self, moment: datetime) -> datetime:
        period = timedelta(seconds=self.seconds)
        return self.anchor + period * ((moment - self.anchor) // period + 1)

    def describe(self) -> str:
        return f"every {self.seconds} s"


class Broken(Every):
    def next_after(self, moment: datetime) -> datetime:
        if moment > self.anchor:
            raise ZeroDivisionError("a row that raises")
        return super().next_after(moment)


def test_submitted_instance_starts_in_the_same_pass():
    world = World()
    world.job()
    first = world.submit()
    assert world.started() == [first]
    assert world.instance(first).status is Status.RUNNING


def test_delayed_instance_starts_at_its_moment():
    world = World()
    world.job()
    delayed = world.submit(after=5)
    world.wait(4.999)
    assert world.started() == []
    assert world.tell().wake_at == START + timedelta(seconds=5)
    world.wait(0.001)
    assert world.started() == [delayed]


def test_design_example_waits_and_then_starts():
    world = World(cores=4, overcommit=1.5)
    for job_id, cores in enumerate((2, 1, 2, 3), start=1):
        world.job(job_id, cores=cores)
    a, b, c, d = (world.submit(job_id) for job_id in (1, 2, 3, 4))
    assert [start.allocation for start in world.starts] == [
        Allocation((0, 1), 0, 0),
        Allocation((2,), 0, 0),
        Allocation((3,), 1, 0),
    ]
    assert world.store.holds[d].code == "cores"
    world.end(a)
    assert world.starts[-1].instance_id == d
    assert world.starts[-1].allocation == Allocation((0, 1), 1, 0)
    assert {b, c, d} == set(world.engine.known.running)


def test_higher_priority_goes_first():
    world = World(cores=1, overcommit=1.0)
    world.job(1, priority=Priority.LOW)
    world.job(2, priority=Priority.CRITICAL)
    running = world.submit(1)
    low, critical = world.submit(1), world.submit(2)
    world.end(running)
    world.end(critical)
    assert world.started() == [running, critical, low]


def test_fifo_ignores_priority():
    world = World(cores=1, overcommit=1.0, order="fifo")
    world.job(1, priority=Priority.LOW)
    world.job(2, priority=Priority.CRITICAL)
    running = world.submit(1)
    world.now += timedelta(seconds=1)
    low = world.submit(1)
    world.now += timedelta(seconds=1)
    world.submit(2)
    world.end(running)
    assert world.started() == [running, low]


def test_failed_attempt_waits_out_its_backoff():
    world = World()
    world.job(retry=RETRY_TWICE)
    only = world.submit()
    world.end(only, OutcomeKind.FAILED)
    assert world.instance(only).status is Status.RETRYING
    assert world.manager.free_cores == world.manager.cores
    world.wait(9.9)
    assert world.started() == [only]
    world.wait(0.1)
    assert world.started() == [only, only]


def test_retries_run_out_and_instance_fails():
    world = World()
    world.job(retry=RETRY_TWICE)
    only = world.submit()
    for _ in range(3):
        world.end(only, OutcomeKind.FAILED)
        world.wait(100)
    assert world.instance(only).status is Status.FAILED
    assert world.started() == [only] * 3


def test_retry_keeps_its_place():
    world = World(cores=1, overcommit=1.0)
    world.job(1, retry=RetryPolicy(max_retries=1, delay_seconds=0, jitter=False))
    world.job(2)
    first = world.submit(1)
    world.now += timedelta(seconds=1)
    second = world.submit(2)
    world.end(first, OutcomeKind.FAILED)
    world.wait(1)
    world.end(world.started()[-1])
    assert set(world.started()) == {first, second}
    assert world.instance(first).order_key < world.instance(second).order_key


def test_lost_attempt_is_taken_over_within_budget():
    world = World()
    world.job()
    only = world.submit()
    waits = []
    while world.instance(only).status is not Status.FAILED:
        world.end(only, OutcomeKind.LOST)
        retry_at = world.instance(only).retry_at
        waits += [(retry_at - world.now).total_seconds()] if retry_at else []
        world.wait(100)
    assert world.instance(only).attempts == 4
    assert waits == [5, 20, 80]


def test_cancel_of_waiting_frees_its_place():
    world = World(cores=1, overcommit=1.0)
    world.job()
    running, waiting = world.submit(), world.submit()
    world.cancel(waiting)
    world.end(running)
    assert world.started() == [running]
    assert world.instance(waiting).status is Status.CANCELLED


def test_cancel_of_running_asks_and_keeps_cores():
    world = World(cores=1, overcommit=1.0)
    world.job()
    running = world.submit()
    world.cancel(running)
    assert [stop.instance_id for stop in world.stops] == [running]
    assert world.manager.free_cores == ()
    world.end(running, OutcomeKind.CANCELLED)
    assert world.instance(running).status is Status.CANCELLED
    assert world.manager.free_cores == (0,)


def test_cancelled_instance_is_not_retried():
    world = World()
    world.job(retry=RETRY_TWICE)
    only = world.submit()
    world.cancel(only)
    world.end(only, OutcomeKind.FAILED)
    assert world.instance(only).status is Status.FAILED


def test_wish_committed_behind_the_engine_is_not_lost():
    world = World()
    world.job(retry=RETRY_TWICE)
    only = world.submit()
    world.store.cancel(only)
    world.end(only, OutcomeKind.FAILED)
    assert world.instance(only).status is Status.CANCELLED


def test_paused_job_holds_its_queue():
    world = World(cores=1, overcommit=1.0)
    job = world.job()
    running, waiting = world.submit(), world.submit()
    world.store.jobs[1] = replace(job, paused=True)
    world.tell(JobChanged(world.store.jobs[1]))
    world.end(running)
    assert world.started() == [running]
    assert world.store.holds[waiting].code == "paused"
    world.store.jobs[1] = job
    world.tell(JobChanged(job))
    assert world.started() == [running, waiting]


def test_stale_revision_delays_but_never_starts_wrongly():
    world = World()
    job = world.job()
    world.store.jobs[1] = replace(job, revision=2)
    only = world.submit()
    assert world.refused == [only]
    assert [start.job_revision for start in world.starts] == [2]


def test_edited_demand_regroups_what_waits():
    world = World(cores=2, overcommit=1.0)
    world.job(1)
    job = world.job(2, cores=2)
    world.submit(1)
    waiting = world.submit(2)
    world.store.jobs[2] = replace(job, revision=2, demand=Demand(1))
    world.tell(JobChanged(world.store.jobs[2]))
    assert waiting in world.started()


def test_stopped_admission_starts_nothing():
    world = World()
    world.job()
    world.tell(AdmissionChanged("the disk is nearly full"))
    only = world.submit()
    assert world.started() == []
    world.tell(AdmissionChanged(""))
    assert world.started() == [only]


def test_standing_queue_writes_its_reason_once():
    world = World(cores=1, overcommit=1.0)
    world.job()
    world.submit()
    world.submit()
    assert not [d for d in world.tell().decisions if isinstance(d, Wait)]


def test_deleted_row_of_running_instance_stops_it():
    world = World(cores=1, overcommit=1.0)
    world.job()
    running = world.submit()
    del world.store.instances[running]
    world.tell(InstanceGone(running))
    assert [stop.instance_id for stop in world.stops] == [running]
    assert world.manager.free_cores == ()
    world.end(running, OutcomeKind.CANCELLED)
    assert world.manager.free_cores == (0,)


def test_outcome_told_twice_counts_once():
    world = World()
    world.job()
    only = world.submit()
    ended = Ended(only, world.engine.known.running[only].token, Outcome(OutcomeKind.SUCCESS, world.now))
    world.tell(ended, ended)
    events = list(world.store.events)
    world.tell(ended)
    assert world.store.events == events
    assert [event.kind for event in events].count("instance.ended") == 1


def test_wish_seen_with_the_end_leaves_no_ghost():
    world = World()
    world.job()
    world.schedule(Every(60))
    only = world.submit()
    ended = Ended(only, world.engine.known.running[only].token, Outcome(OutcomeKind.SUCCESS, world.now))
    world.tell(InstanceSeen(world.store.cancel(only)), ended)
    world.wait(60)
    assert len(world.started()) == 2


def test_wish_to_cancel_a_lost_one_cancels_it():
    world = World()
    world.job()
    only = world.submit()
    world.cancel(only)
    world.end(only, OutcomeKind.LOST)
    assert world.instance(only).status is Status.CANCELLED


def test_row_ended_by_somebody_else_keeps_its_cores_until_the_end():
    world = World(cores=1, overcommit=1.0)
    world.job()
    only = world.submit()
    taken = replace(world.instance(only), status=Status.FAILED)
    world.store.instances[only] = taken
    world.store.attempts = {t: replace(a, status="ended") for t, a in world.store.attempts.items()}
    world.tell(InstanceSeen(taken))
    assert world.manager.free_cores == ()
    world.end(only)
    assert world.manager.free_cores == (0,)


def test_news_of_a_job_does_not_requeue_what_waits():
    world = World(cores=1, overcommit=1.0)
    job = world.job()
    for _ in range(50):
        world.submit()
    for _ in range(50):
        world.tell(JobChanged(job))
    assert sum(len(group) for group in world.engine.waiting.ready._groups.values()) <= 60


# --- schedules ---


def test_schedule_fires_and_runs():
    world = World()
    world.job()
    world.schedule(Every(60))
    world.wait(59.9)
    assert world.started() == []
    world.wait(0.1)
    assert len(world.started()) == 1
    assert world.instance(world.started()[0]).logical_at == START + timedelta(seconds=60)


def test_overlapping_fire_is_skipped_and_counted():
    world = World()
    world.job()
    world.schedule(Every(60))
    world.wait(60)
    plan = world.wait(60)
    (fire,) = [d for d in plan.decisions if isinstance(d, Fire)]
    assert [skip.code for skip in fire.skips] == ["overlap"]
    assert len(world.started()) == 1


def test_missed_fires_coalesce_into_the_latest():
    world = World()
    world.job()
    world.schedule(Every(60))
    plan = world.wait(3600)
    (fire,) = [d for d in plan.decisions if isinstance(d, Fire)]
    assert fire.missed == 59
    assert fire.logical_at == START + timedelta(seconds=3600)
    assert len(world.started()) == 1


def test_schedule_that_raises_is_flagged_and_others_fire():
    world = World()
    world.job(1)
    world.job(2)
    world.schedule(Broken(10), job_id=1, schedule_id=1)
    world.schedule(Every(10), job_id=2, schedule_id=2)
    plan = world.wait(10)
    assert [d.schedule_id for d in plan.decisions if isinstance(d, Flag)] == [1]
    assert "a row that raises" in world.store.faults[1]
    assert [world.instance(i).job_id for i in world.started()] == [2]


def test_fire_of_a_paused_job_is_refused():
    world = World()
    job = world.job()
    world.schedule(Every(60))
    world.store.jobs[1] = replace(job, paused=True)
    world.wait(60)
    assert world.started() == []


# --- big and small ---


def test_small_goes_ahead_while_the_big_is_patient():
    world = World(cores=2, overcommit=1.0)
    world.job(1)
    world.job(2, cores=2)
    running = world.submit(1)
    big = world.submit(2)
    small = world.submit(1)
    assert world.started() == [running, small]
    assert world.store.holds[big].code == "cores"


def test_cores_are_kept_for_the_big_after_its_patience():
    world = World(cores=2, overcommit=1.0)
    world.job(1)
    world.job(2, cores=2)
    running = world.submit(1)
    big = world.submit(2)
    world.wait(61)
    small = world.submit(1)
    assert world.store.holds[small].code == "behind"
    assert world.engine.starts.kept_for == big
    world.end(running)
    assert world.started() == [running, big]


def test_small_that_ends_in_time_still_goes_ahead():
    world = World(cores=2, overcommit=1.0)
    world.job(1, timeout_seconds=1000)
    world.job(2, cores=2)
    world.job(3, timeout_seconds=10)
    world.submit(1)
    world.submit(2)
    world.wait(61)
    small = world.submit(3)
    assert small in world.started()


def test_what_starts_in_this_pass_counts_for_the_big_ones_prediction():
    world = World(cores=2, overcommit=1.0)
    world.job(1, timeout_seconds=100)
    world.job(2, cores=2)
    world.job(3, timeout_seconds=500)
    world.tell(AdmissionChanged("held back"))
    world.submit(1)
    big = world.submit(2)
    world.now += timedelta(seconds=61)
    small = world.submit(3)
    world.tell(AdmissionChanged(""))
    assert small not in world.started()
    assert world.engine.starts.kept_for == big
