"""Transactions of two connections want the same rows of PostgreSQL: none waits for the other in a circle."""

import logging
import threading
from functools import partial

import pytest
from django.db import OperationalError, transaction

from jobs import actions, models
from jobs.admin import bulk
from jobs.admin.bulk_form import BulkEdit
from jobs.core.decisions import Dismiss, Finish, Pause, Start
from jobs.core.records import Allocation, Outcome
from jobs.core.states import OutcomeKind, Status
from jobs.store import wishes
from jobs.store.locks import once_more
from tests.store.benches import NOW, OrmBench, at
from tests.store.test_races import race
from tests.waiting import DEADLINE_SECONDS

ROUNDS = 3


@pytest.fixture
def bench(postgres_database, caplog) -> OrmBench:
    caplog.set_level(logging.WARNING, "jobs.store.locks")
    return OrmBench()


def workflow(bench: OrmBench, roots: int = 2) -> list[int]:
    """Jobs that begin one workflow together, and last the one that waits for them all."""
    ids = [bench.job() for _ in range(roots + 1)]
    for root in ids[:-1]:
        bench.schedule(root)
        models.Dependency.objects.create(job_id=ids[-1], upstream_id=root)
    return ids


def run(bench: OrmBench, job_id: int, node: int = 0) -> int:
    instance_id = bench.submit(job_id)
    models.Instance.objects.filter(pk=instance_id).update(status=Status.QUEUED, queued_at=NOW, order_key=instance_id)
    revision = models.Job.objects.get(pk=job_id).revision
    bench.commit(Start(instance_id, job_id, revision, 1, f"t{instance_id}", Allocation((0,), 0, 0)), node=node)
    return instance_id


def failed(instance_id: int, job_id: int, **learnt) -> Finish:
    outcome = Outcome(OutcomeKind.FAILED, at(1))
    return Finish(instance_id, job_id, f"t{instance_id}", 1, outcome, Status.FAILED, **({"failures": 1} | learnt))


def commit(bench: OrmBench, *decisions, node: int) -> bool:
    bench.commit(*decisions, node=node)
    return True


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_two_nodes_pause_the_roots_of_one_workflow(bench, _round):
    one, other, _ = workflow(bench)
    wishes_ = [
        (failed(run(bench, one, 0), one), Pause(one, "failed")),
        (failed(run(bench, other, 1), other), Pause(other, "failed")),
    ]
    assert race(*(partial(commit, bench, *wanted, node=node) for node, wanted in enumerate(wishes_))) == 2
    assert models.Job.objects.filter(paused_at=None).count() == 1


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_two_nodes_learn_of_the_same_jobs_in_opposite_order(bench, _round):
    jobs = [bench.job() for _ in range(20)]
    there = [failed(run(bench, job_id, 0), job_id, usual_seconds=1.0) for job_id in jobs]
    back = [failed(run(bench, job_id, 1), job_id, usual_seconds=2.0) for job_id in reversed(jobs)]
    assert race(*(partial(commit, bench, *ends, node=node) for node, ends in enumerate((there, back)))) == 2


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_engine_ends_what_a_backfill_that_is_cancelled_has(bench, caplog, _round):
    job_id = bench.job()
    backfill = models.Backfill.objects.create(
        job_id=job_id, first_at=NOW, last_at=NOW, dates=1, created_by="ann", created_at=NOW
    )
    waiting = [bench.submit(job_id, at(n)) for n in range(1, 31)]
    running = [run(bench, job_id) for _ in range(10)]
    models.Instance.objects.update(backfill=backfill)
    ends = [failed(instance_id, job_id) for instance_id in running]
    late = [Dismiss(i, job_id, Status.PENDING, Status.SKIPPED, "start_deadline", "late") for i in waiting]
    cancel = partial(actions.cancel_backfill, backfill.pk, actor="ann", now=NOW)
    assert race(partial(commit, bench, *late, *ends, node=0), lambda: cancel().changed) == 2
    assert caplog.messages == []


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_engine_ends_what_waits_of_a_job_that_is_cancelled(bench, caplog, _round):
    job_id = bench.job()
    late = [
        Dismiss(bench.submit(job_id, at(n)), job_id, Status.PENDING, Status.SKIPPED, "start_deadline", "late")
        for n in range(1, 101)
    ]
    cancel = partial(wishes.cancel_waiting, job_id, actor="ann", now=NOW, most=100)
    race(partial(commit, bench, *late, node=0), lambda: cancel() >= 0)
    assert caplog.messages == []


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_bulk_change_and_run_of_a_workflow_meets_the_engine(bench, caplog, _round):
    *roots, below = workflow(bench)
    ends = [failed(run(bench, below), below)]
    edit = BulkEdit({"priority": 3}, run_now=True)
    change = partial(bulk.apply, edit, roots[-1], revision=None, actor="ann", now=NOW)
    assert race(partial(commit, bench, *ends, node=0), lambda: change().submitted) == 2
    assert caplog.messages == []


def test_victim_of_a_deadlock_is_done_once_more(bench, caplog):
    jobs = [bench.job(), bench.job()]
    both_hold_one, other_is_done = threading.Barrier(2), threading.Event()
    rounds: list[int] = []

    @once_more
    @transaction.atomic
    def rename(first: int, second: int, name: str) -> bool:
        if len(rounds) == 2:  # else, on a busy machine, it could take the very row that the other was let go for
            assert other_is_done.wait(DEADLINE_SECONDS)
        models.Job.objects.filter(pk=first).update(description=name)
        rounds.append(first)
        if len(rounds) <= 2:
            both_hold_one.wait(DEADLINE_SECONDS)
        models.Job.objects.filter(pk=second).update(description=name)
        return True

    def renamed(*ids: int, name: str) -> bool:
        done = rename(*ids, name)
        other_is_done.set()
        return done

    assert race(lambda: renamed(*jobs, name="there"), lambda: renamed(*reversed(jobs), name="back")) == 2
    assert len(set(models.Job.objects.values_list("description", flat=True))) == 1
    (said,) = caplog.messages
    assert "done once more: deadlock detected" in said


def test_other_errors_of_the_database_are_not_tried_again():
    calls = []

    @once_more
    def gone() -> None:
        calls.append(1)
        raise OperationalError("the server went away")

    with pytest.raises(OperationalError, match="went away"):
        gone()
    assert calls == [1]
