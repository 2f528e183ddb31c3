"""Jobs that wait for others."""

import random

import pytest

from jobs.embedded import BlockingJob, InvalidJob, Status, UnknownJobError, UpstreamRule
from tests.embedded.schedulers import NO_RETRY, WAIT, Fails, by_now, nothing


def failing(**terms) -> BlockingJob:
    return BlockingJob(Fails(99), name="bad", retry=NO_RETRY, **terms)


def joined(scheduler, *handles) -> list[Status]:
    assert scheduler.join(timeout_seconds=WAIT)
    return [handle.status for handle in handles]


def test_a_dependent_starts_when_all_before_it_have_succeeded(scheduler, gate):
    ran = []
    first = scheduler.submit(gate.job())
    second = scheduler.submit(BlockingJob(ran.append, ("second",)))
    third = scheduler.submit(BlockingJob(ran.append, ("third",)), depends_on=[first, second.id])
    assert scheduler.join(second, timeout_seconds=WAIT)
    assert third.status is Status.PENDING
    gate.opened.set()
    joined(scheduler)
    assert ran == ["second", "third"]


def test_a_failure_cascades_and_names_the_first(scheduler):
    first = scheduler.submit(failing())
    second = scheduler.submit(BlockingJob(nothing), depends_on=[first])
    third = scheduler.submit(BlockingJob(nothing), depends_on=[second])
    assert joined(scheduler, first, second, third) == [Status.FAILED, *[Status.UPSTREAM_FAILED] * 2]
    assert third.blame.instance_id == first.id
    assert third.reason == f"its upstream 'bad' (instance {first.id}) ended as failed"
    assert (second.attempts, third.attempts) == (0, 0)


def test_a_cancel_cascades(scheduler):
    first = scheduler.submit(BlockingJob(nothing), delay_seconds=60)
    second = scheduler.submit(BlockingJob(nothing), depends_on=[first])
    third = scheduler.submit(BlockingJob(nothing), depends_on=[second])
    scheduler.cancel(first)
    assert (second.status, third.status) == (Status.UPSTREAM_FAILED, Status.UPSTREAM_FAILED)
    assert third.blame.status is Status.CANCELLED


def test_a_cancelled_dependent_leaves_its_upstream_alone(scheduler, gate):
    first = scheduler.submit(gate.job())
    second = scheduler.submit(BlockingJob(nothing), depends_on=[first])
    assert scheduler.cancel(second)
    gate.opened.set()
    assert joined(scheduler, first, second) == [Status.SUCCESS, Status.CANCELLED]


def test_a_retry_keeps_dependents_waiting(scheduler, clock):
    first = scheduler.submit(BlockingJob(Fails(1)))
    second = scheduler.submit(BlockingJob(nothing), depends_on=[first])
    assert scheduler.settle(WAIT)
    assert (first.status, second.status) == (Status.RETRYING, Status.PENDING)
    clock.advance(1)
    assert joined(scheduler, first, second) == [Status.SUCCESS, Status.SUCCESS]


def test_who_depends_on_what_is_done_does_not_wait(scheduler):
    first = scheduler.submit(BlockingJob(nothing))
    joined(scheduler)
    second = scheduler.submit(BlockingJob(nothing), depends_on=[first])
    assert joined(scheduler, second) == [Status.SUCCESS]


def test_who_depends_on_what_has_failed_ends_at_once(scheduler):
    first = scheduler.submit(failing())
    joined(scheduler)
    second = scheduler.submit(BlockingJob(nothing), depends_on=[first])
    assert by_now(scheduler, second) == [Status.UPSTREAM_FAILED]
    assert second.blame.job_name == "bad"


def test_an_unknown_upstream_is_refused(scheduler):
    with pytest.raises(UnknownJobError, match="there is no job 99"):
        scheduler.submit(BlockingJob(nothing), depends_on=[99])
    assert scheduler.jobs() == []


def test_an_upstream_named_twice_is_one(scheduler):
    first = scheduler.submit(BlockingJob(nothing))
    second = scheduler.submit(BlockingJob(nothing), depends_on=[first, first.id])
    assert joined(scheduler, second) == [Status.SUCCESS]


def test_a_dependent_waits_out_its_own_delay(scheduler, clock):
    first = scheduler.submit(BlockingJob(nothing))
    second = scheduler.submit(BlockingJob(nothing), depends_on=[first], delay_seconds=60)
    assert scheduler.join(first, timeout_seconds=WAIT)
    assert second.status is Status.PENDING
    clock.advance(60)
    assert joined(scheduler, second) == [Status.SUCCESS]


def test_some_run_whatever_became_of_others(scheduler):
    first = scheduler.submit(failing())
    always = scheduler.submit(BlockingJob(nothing, run_when=UpstreamRule.ALL_DONE), depends_on=[first])
    clean_up = scheduler.submit(BlockingJob(nothing, run_when=UpstreamRule.ANY_FAILED), depends_on=[first])
    assert joined(scheduler, always, clean_up) == [Status.SUCCESS, Status.SUCCESS]


def test_clean_up_is_skipped_where_nothing_failed(scheduler):
    first = scheduler.submit(BlockingJob(nothing))
    clean_up = scheduler.submit(BlockingJob(nothing, run_when=UpstreamRule.ANY_FAILED), depends_on=[first])
    assert joined(scheduler, clean_up) == [Status.SKIPPED]


def test_a_run_of_a_series_is_no_upstream(scheduler):
    series = scheduler.fixed_rate(BlockingJob(nothing), 60, start_in=0)
    with pytest.raises(InvalidJob, match="run of a series"):
        scheduler.submit(BlockingJob(nothing), depends_on=[series.last])


def test_in_random_graphs_every_job_ends_as_it_must(make):
    chance = random.Random(7)  # noqa: S311 - a test that can be repeated
    scheduler = make(history=500)
    upstreams, handles, began = [], [], {}
    for number in range(200):
        above = chance.sample(range(number), min(number, chance.choice([0, 1, 1, 2, 3])))
        bad = chance.random() < 0.15

        def run(number=number, bad=bad):
            began[number] = True
            if bad:
                raise ValueError("bad")

        job = BlockingJob(run, retry=NO_RETRY)
        handles.append(scheduler.submit(job, depends_on=[handles[i] for i in above]))
        upstreams.append(above)
    assert scheduler.join(timeout_seconds=WAIT)
    for handle, above in zip(handles, upstreams, strict=True):
        good = all(handles[i].status is Status.SUCCESS for i in above)
        assert (handle.status is Status.UPSTREAM_FAILED) is not good
    assert len(began) == sum(handle.status is not Status.UPSTREAM_FAILED for handle in handles)
