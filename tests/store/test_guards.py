"""The database itself refuses what the code should never do."""

import pytest
from django.db import IntegrityError, transaction

from jobs import models
from jobs.core.states import TERMINAL, Status
from tests.store.benches import NOW, OrmBench, at


@pytest.fixture
def bench(each_database) -> OrmBench:
    return OrmBench()


def refused(change) -> bool:
    try:
        with transaction.atomic():
            change()
    except IntegrityError:
        return True
    return False


@pytest.mark.parametrize("status", sorted(TERMINAL - {Status.SUCCESS, Status.TIMEOUT}))
def test_terminal_status_never_changes(bench, status):
    row = models.Instance.objects.filter(pk=bench.submit(bench.job(), at(60)))
    row.update(status=status, ended_at=NOW)
    assert refused(lambda: row.update(status="queued", ended_at=None, queued_at=NOW, order_key=1))


@pytest.mark.parametrize("status", ["success", "timeout"])
def test_status_after_a_run_never_changes(bench, status):
    row = models.Instance.objects.filter(pk=bench.submit(bench.job()))
    row.update(status="running", token="t", node=models.Node.objects.first())
    row.update(status=status, token="", ended_at=NOW)
    assert refused(lambda: row.update(status="failed"))


def test_illegal_move_is_refused(bench):
    row = models.Instance.objects.filter(pk=bench.submit(bench.job()))
    assert refused(lambda: row.update(status="success", ended_at=NOW))


def test_running_needs_token_and_node(bench):
    row = models.Instance.objects.filter(pk=bench.submit(bench.job()))
    assert refused(lambda: row.update(status="running"))


def test_logical_date_of_a_schedule_only_rises(bench):
    row = models.Schedule.objects.filter(pk=bench.schedule(bench.job()))
    row.update(last_logical_at=at(60))
    assert refused(lambda: row.update(last_logical_at=at(0)))
    assert refused(lambda: row.update(last_logical_at=None))
    assert row.update(last_logical_at=at(120)) == 1


def test_one_date_and_generation_per_job(bench):
    instance = models.Instance.objects.defer(None).get(pk=bench.submit(bench.job()))
    instance.pk = None
    assert refused(lambda: instance.save(force_insert=True))


def test_two_attempts_in_flight_are_refused(bench):
    instance = models.Instance.objects.get(pk=bench.submit(bench.job()))
    node = models.Node.objects.first()
    fields = {"instance": instance, "node": node, "status": "starting", "created_at": NOW}
    models.Attempt.objects.create(number=1, token="a", **fields)
    assert refused(lambda: models.Attempt.objects.create(number=2, token="b", **fields))


def test_outcome_of_an_attempt_is_kept(bench):
    instance = models.Instance.objects.get(pk=bench.submit(bench.job()))
    attempt = models.Attempt.objects.create(
        instance=instance,
        node=models.Node.objects.first(),
        number=1,
        token="a",
        status="ended",
        outcome="success",
        created_at=NOW,
        ended_at=NOW,
    )
    again = models.Attempt.objects.filter(pk=attempt.pk)
    assert refused(lambda: again.update(status="running", outcome="", ended_at=None))


def test_event_without_its_transaction_is_refused(bench):
    from jobs.store.events import NewEvent, record

    with pytest.raises(transaction.TransactionManagementError, match="transaction of its change"):
        record([NewEvent(NOW, "job.changed")])
