"""A front of the queue that waits for something else than its turn hides nobody, and nothing behind it is forgotten."""

import pytest

from jobs import models
from jobs.core.states import Status
from jobs.store import queuewindow
from tests.store.benches import NOW
from tests.store.test_limit_claims import Node, make_job, submit

pytestmark = pytest.mark.usefixtures("each_database")


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    for name, value in (("WIDTH", 4), ("OF_A_LINE", 4), ("PORTION", 3)):
        monkeypatch.setattr(queuewindow, name, value)


def settle(node: Node) -> None:
    node.look()
    while node.follower.horizon.queue.is_short(node.engine):
        node.pass_with(node.follower.beyond_horizon(node.engine, NOW))


def running(job: models.Job) -> int:
    return models.Instance.objects.filter(job=job, status=Status.RUNNING).count()


def waits_for_its_own() -> models.Job:
    job = make_job("own")
    submit(job, 12)
    models.Instance.objects.update(serial=True)
    return job


def waits_for_its_maximum() -> models.Job:
    job = make_job("maximum", max_running=1)
    submit(job, 12)
    return job


def waits_for_a_tag() -> models.Job:
    models.Limit.objects.create(kind="tag", name="etl", maximum=1)
    job = make_job("tag", tags=["etl"])
    submit(job, 12)
    return job


def waits_for_a_token() -> models.Job:
    models.Limit.objects.create(kind="rate", name="api", rate_per_second=0.001, burst=1)
    job = make_job("rate", rates=["api"])
    submit(job, 12)
    return job


FRONTS = (waits_for_its_own, waits_for_its_maximum, waits_for_a_tag, waits_for_a_token)


@pytest.mark.parametrize("front", FRONTS)
def test_front_that_waits_for_something_hides_nobody(front):
    stuck, behind = front(), make_job("behind")
    submit(behind)
    node = Node("left")
    settle(node)
    assert (running(stuck), running(behind)) == (1, 1)


def test_front_too_big_for_this_node_hides_nobody():
    submit(make_job("big", cores=64), 12)
    behind = make_job("behind")
    submit(behind)
    settle(Node("left"))
    assert running(behind) == 1


def test_window_holds_little_of_what_it_passed_over():
    waits_for_its_own()
    submit(make_job("behind"))
    node = Node("left")
    settle(node)
    assert len(node.engine.known.instances) <= 10


def ran_to_the_end(node):
    """The instances in the order in which they ran."""
    ran = []
    settle(node)
    while now := list(models.Instance.objects.filter(status=Status.RUNNING).values_list("pk", flat=True)):
        ran += now
        node.end(now[0])
        settle(node)
    return ran


@pytest.mark.parametrize("front", FRONTS[:3])
def test_all_that_was_passed_over_runs_in_its_order(front):
    front()
    ids = list(models.Instance.objects.order_by("pk").values_list("pk", flat=True))
    assert ran_to_the_end(Node("left")) == ids


@pytest.mark.parametrize("front", FRONTS)
def test_what_comes_behind_a_stuck_front_starts(front):
    front()
    node = Node("left")
    settle(node)
    behind = make_job("behind")
    submit(behind)
    settle(node)
    assert running(behind) == 1


def test_what_comes_for_a_line_that_was_passed_over_waits_its_turn():
    job = waits_for_its_maximum()
    node = Node("left")
    settle(node)
    known = len(node.engine.known.instances)
    submit(job, 20)
    settle(node)
    assert len(node.engine.known.instances) == known


def test_two_jobs_of_one_limit_take_their_turns():
    models.Limit.objects.create(kind="tag", name="etl", maximum=1)
    one, other = make_job("one", tags=["etl"]), make_job("other", tags=["etl"])
    ids = [instance_id for _ in range(7) for job in (one, other) for instance_id in submit(job)]
    assert ran_to_the_end(Node("left")) == ids


def test_long_queue_of_a_job_that_is_resumed_is_found_to_its_end():
    job = make_job("job")
    submit(job, 15)
    models.Job.objects.update(paused_at=NOW)
    node = Node("left")
    settle(node)
    models.Job.objects.update(paused_at=None)
    models.Event.objects.create(at=NOW, kind="job.resumed", job_id=job.pk, actor="ann")
    settle(node)
    for _ in range(15):
        node.end(models.Instance.objects.filter(status=Status.RUNNING).first().pk)
        settle(node)
    assert models.Instance.objects.exclude(status=Status.SUCCESS).count() == 0
