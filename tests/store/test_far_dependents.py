"""What waits for others and is due hours from now: it ends with them, not when its own moment comes near."""

import itertools

import pytest

from jobs import models
from jobs.core.inputs import Ended
from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind, Status
from jobs.store import wishes
from tests.store.benches import NOW, at
from tests.store.test_limit_claims import Node, make_job

pytestmark = pytest.mark.usefixtures("each_database")
TONIGHT = at(6 * 3600)


@pytest.fixture
def jobs() -> list[models.Job]:
    """Each waits for the one before it, the last two until tonight."""
    made = [make_job(name) for name in ("first", "second", "third")]
    for upstream, job in itertools.pairwise(made):
        models.Dependency.objects.create(job=job, upstream=upstream)
    return made


def submit(jobs: list[models.Job]) -> list[int]:
    due = [NOW, TONIGHT, TONIGHT]
    return [
        wishes.submit(job, cause="manual", actor="ann", now=NOW, due_at=at_, logical_at=NOW).pk
        for job, at_ in zip(jobs, due, strict=True)
    ]


def statuses(ids: list[int]) -> list[str]:
    return list(models.Instance.objects.filter(pk__in=ids).order_by("pk").values_list("status", flat=True))


def fail(node: Node, instance_id: int) -> None:
    token = node.engine.known.running[instance_id].token
    node.pass_with([Ended(instance_id, token, Outcome(OutcomeKind.FAILED, NOW))])


def test_end_of_an_upstream_comes_at_once_after_a_restart(jobs):
    ids = submit(jobs)
    node = Node("left")
    fail(node, ids[0])
    assert statuses(ids) == ["failed", "upstream_failed", "upstream_failed"]
    blamed = models.Instance.objects.filter(pk__in=ids[1:]).values_list("blame_id", flat=True)
    assert set(blamed) == {ids[0]}


def test_end_of_an_upstream_comes_at_once_to_what_was_submitted(jobs):
    node = Node("left")
    ids = submit(jobs)
    node.look()
    fail(node, ids[0])
    assert statuses(ids) == ["failed", "upstream_failed", "upstream_failed"]


def test_cancel_while_no_node_ran_is_found_at_the_start(jobs):
    ids = submit(jobs)
    wishes.cancel(ids[0], actor="ann", now=NOW)
    Node("left")
    assert statuses(ids) == ["cancelled", "upstream_failed", "upstream_failed"]


def test_success_lets_it_wait_for_its_moment(jobs):
    ids = submit(jobs)
    node = Node("left")
    node.end(ids[0])
    assert statuses(ids) == [Status.SUCCESS, Status.PENDING, Status.PENDING]
    assert node.wake_at == TONIGHT
