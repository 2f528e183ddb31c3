"""What is durable before what, and how few transactions it takes."""

import threading
import time
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs import models
from jobs.core.cores import CoreManager
from jobs.core.engine import Engine
from jobs.core.inputs import Ended, InstanceSeen, JobChanged
from jobs.core.order import ByPriority
from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind, Status
from jobs.service.mailbox import Mailbox
from jobs.service.passes import run_pass
from jobs.store import read, wishes
from jobs.store.orm import OrmStore
from tests.store.benches import NOW, at

pytestmark = pytest.mark.django_db(transaction=True)


class Desk:
    """An engine on the ORM store, without threads and processes."""

    def __init__(self, cores: int = 2) -> None:
        node = models.Node.objects.create(name="here")
        self.store = OrmStore(node.pk, node.name)
        self.tokens = iter(range(100_000))
        self.engine = Engine(
            CoreManager(range(cores), overcommit=1.0),
            order=ByPriority(),
            new_token=lambda: f"t{next(self.tokens)}",
            uniform=lambda low, high: high,
        )
        self.job = models.Job.objects.create(name="j", body="true", created_at=NOW)
        self.tell(JobChanged(read.job(self.job)))

    def submit(self) -> models.Instance:
        return wishes.submit(self.job, cause=models.Instance.Cause.MANUAL, actor="ann", now=NOW)

    def tell(self, *inputs):
        return run_pass(self.engine, self.store, NOW, inputs, {})

    def seen(self, *instances):
        return self.tell(*(InstanceSeen(read.instance(instance)) for instance in instances))

    def ends(self, starts):
        return self.tell(*(Ended(s.instance_id, s.token, Outcome(OutcomeKind.SUCCESS, at(1))) for s in starts))


def commits(captured: CaptureQueriesContext) -> int:
    return sum(query["sql"].startswith("COMMIT") for query in captured.captured_queries)


def test_start_is_committed_when_it_is_handed_out():
    desk = Desk()
    passed = desk.seen(desk.submit())
    connection.close()  # whatever was not committed is gone
    assert models.Attempt.objects.get().token == passed.launches[0].token


def test_finish_is_committed_with_what_it_lets_start():
    desk = Desk(cores=1)
    first, second = desk.submit(), desk.submit()
    started = desk.seen(first, second).starts
    with CaptureQueriesContext(connection) as captured:
        released = desk.ends(started).starts
    assert [start.instance_id for start in released] == [second.pk]
    assert commits(captured) == 1
    updates = [q["sql"] for q in captured.captured_queries if q["sql"].lstrip().startswith("UPDATE jobs_instance")]
    assert "v.status" in updates[0]
    assert "'running'" in updates[1]


def test_thousand_finishes_take_few_transactions():
    desk, mailbox = Desk(cores=1000), Mailbox()
    started = desk.seen(*(desk.submit() for _ in range(1000))).starts
    ends = [Ended(start.instance_id, start.token, Outcome(OutcomeKind.SUCCESS, at(1))) for start in started]
    reporter = threading.Thread(target=lambda: [mailbox.put(end) for end in ends])
    left = models.Instance.objects.filter(status="running")
    with CaptureQueriesContext(connection) as captured:
        reporter.start()
        while left.exists():
            mailbox.wait(time.monotonic() + 10)
            desk.tell(*mailbox.take()[0])
    reporter.join()
    assert models.Instance.objects.filter(status="success").count() == 1000
    assert commits(captured) <= 100


def test_idle_pass_touches_no_table():
    desk = Desk()
    with CaptureQueriesContext(connection) as captured:
        desk.tell()
    assert captured.captured_queries == []


def test_one_refused_row_does_not_stop_the_others():
    desk = Desk()
    bad, good = desk.submit(), desk.submit()
    models.Attempt.objects.create(
        instance=bad,
        node_id=desk.store.node_id,
        number=1,
        token="in the way",
        status="ended",
        outcome="lost",
        created_at=NOW,
        ended_at=NOW,
    )
    passed = desk.seen(bad, good)
    assert [start.instance_id for start in passed.starts] == [good.pk]
    assert passed.refused_instances == {bad.pk}
    bad.refresh_from_db()
    assert (bad.status, "refused" in bad.error) == ("failed", True)


def test_what_another_was_first_to_queue_is_not_started_beside_a_refused_row():
    desk = Desk()
    bad, late = desk.submit(), desk.submit()
    models.Attempt.objects.create(
        instance=bad, node_id=desk.store.node_id, number=1, token="t0", status="ended", outcome="lost",
        created_at=NOW, ended_at=NOW,
    )  # fmt: skip
    stale = replace(read.instance(late), status=Status.PENDING, queued_at=None, order_key=None)
    passed = desk.tell(InstanceSeen(read.instance(bad)), InstanceSeen(stale))
    assert passed.refused_instances == {bad.pk, late.pk}
    assert (passed.starts, models.Attempt.objects.exclude(status="ended").count()) == ([], 0)


def test_end_whose_details_are_refused_is_still_an_end():
    desk = Desk()
    instance = desk.submit()
    (start,) = desk.seen(instance).starts
    impossible = Outcome(OutcomeKind.FAILED, at(1), exit_code=3, descendants_ended=-1)
    desk.tell(Ended(instance.pk, start.token, impossible))
    instance.refresh_from_db()
    assert instance.status == "failed"
    assert models.Attempt.objects.get().status == "ended"
