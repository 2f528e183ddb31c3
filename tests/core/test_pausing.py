"""What failures lead to: another attempt or none, and a pause after too many in a row."""

from dataclasses import replace

import pytest

from jobs.core.decisions import Finish, Pause
from jobs.core.inputs import Ended, InstanceSeen, JobChanged
from jobs.core.records import Outcome, RetryPolicy
from jobs.core.states import OutcomeKind, Status
from tests.core.world import World


def pauses(plan):
    return [decision for decision in plan.decisions if isinstance(decision, Pause)]


def fail(world: World):
    return world.end(world.submit(), OutcomeKind.FAILED)


def test_job_pauses_after_failures_in_a_row():
    world = World()
    world.job(pause_after_failures=3)
    assert [len(pauses(fail(world))) for _ in range(3)] == [0, 0, 1]
    assert world.store.jobs[1].paused


def test_success_between_begins_to_count_anew():
    world = World()
    world.job(pause_after_failures=2)
    fail(world)
    world.end(world.submit())
    assert pauses(fail(world)) == []


def test_cancel_neither_counts_nor_clears():
    world = World()
    world.job(pause_after_failures=2)
    fail(world)
    cancelled = world.submit()
    world.cancel(cancelled)
    world.end(cancelled, OutcomeKind.CANCELLED)
    assert pauses(fail(world)) == [Pause(1, "failed 2 times in a row")]


def test_attempts_that_are_tried_again_do_not_count():
    world = World()
    world.job(pause_after_failures=2, retry=RetryPolicy(1, 1, jitter=False))
    instance = world.submit()
    assert pauses(world.end(instance, OutcomeKind.FAILED)) == []
    world.wait(1)
    assert pauses(world.end(instance, OutcomeKind.FAILED)) == []


def test_resumed_job_has_all_its_failures_before_it():
    world = World()
    job = world.job(pause_after_failures=2)
    fail(world), fail(world)
    world.store.jobs[1] = replace(job, failures_in_a_row=0)
    world.tell(JobChanged(world.store.jobs[1]))
    assert [len(pauses(fail(world))) for _ in range(2)] == [0, 1]


def test_failures_on_another_node_count_too():
    world = World(cores=1, overcommit=1.0)
    world.job(pause_after_failures=2)
    elsewhere = replace(world.instance(world.submit()), id=99, status=Status.RUNNING)
    world.tell(InstanceSeen(elsewhere))
    world.tell(InstanceSeen(replace(elsewhere, status=Status.FAILED)))
    assert pauses(world.end(1, OutcomeKind.FAILED)) == [Pause(1, "failed 2 times in a row")]


@pytest.mark.parametrize(
    ("only", "never", "code", "follows"),
    [
        ((), (), 1, Status.RETRYING),
        ((75,), (), 75, Status.RETRYING),
        ((75,), (), 1, Status.FAILED),
        ((), (2,), 2, Status.FAILED),
        ((), (2,), 3, Status.RETRYING),
        ((75,), (), None, Status.RETRYING),
    ],
)
def test_exit_code_says_whether_it_is_tried_again(only, never, code, follows):
    world = World()
    world.job(retry=RetryPolicy(3, 1, only_exit_codes=only, never_exit_codes=never))
    instance = world.submit()
    outcome = Outcome(OutcomeKind.FAILED, world.now, exit_code=code)
    plan = world.tell(Ended(instance, world.engine.known.running[instance].token, outcome))
    assert [d.status for d in plan.decisions if isinstance(d, Finish)] == [follows]


@pytest.mark.parametrize("kind", [OutcomeKind.REJECTED, OutcomeKind.ENVIRONMENT_FAILED])
def test_what_cannot_be_started_is_not_tried_again(kind):
    world = World()
    world.job(retry=RetryPolicy(3, 1))
    instance = world.submit()
    world.end(instance, kind)
    assert world.instance(instance).status is Status.FAILED


# --- cases from the field ---


def test_bug_047_waiting_retries_hold_nothing():
    world = World(cores=3, overcommit=1.0)
    world.job(1, retry=RetryPolicy(1, 60, jitter=False), max_running=3, limits=("job:1", "tag:x"))
    world.job(2, limits=("tag:x",))
    for _ in range(9):
        world.submit(1)
    while world.engine.known.running:
        world.end(next(iter(world.engine.known.running)), OutcomeKind.FAILED)
    assert {world.instance(i).status for i in range(1, 10)} == {Status.RETRYING}
    good = world.submit(2)
    assert world.started()[-1] == good


def test_bug_050_rerun_has_all_its_attempts():
    world = World()
    world.job(retry=RetryPolicy(2, 1, jitter=False))
    date = world.now
    for generation in range(2):
        instance = world.submit(logical_at=date)
        for _ in range(3):
            world.end(instance, OutcomeKind.FAILED)
            world.wait(10)
        ended = world.instance(instance)
        assert (ended.status, ended.generation, ended.attempts) == (Status.FAILED, generation, 3)
        assert [s.attempt for s in world.starts if s.instance_id == instance] == [1, 2, 3]


def test_losses_and_failures_have_a_budget_each():
    world = World()
    world.job(retry=RetryPolicy(1, 1, jitter=False))
    poison = world.submit()
    for kind in (OutcomeKind.LOST, OutcomeKind.FAILED, OutcomeKind.LOST, OutcomeKind.FAILED):
        world.wait(100)
        world.end(poison, kind)
    assert (world.instance(poison).status, world.instance(poison).attempts) == (Status.FAILED, 4)


def test_poison_pauses_its_job_by_its_end_alone():
    world = World()
    world.job(pause_after_failures=2, retry=RetryPolicy(5, 1, jitter=False))
    told = []
    for _ in range(2):
        poison = world.submit()
        while world.instance(poison).status is not Status.FAILED:
            told.append(len(pauses(world.end(poison, OutcomeKind.LOST))))
            world.wait(100)
    assert told == [0, 0, 0, 0, 0, 0, 0, 1]
