"""Fair shares across a restart and from the web: the order as a service begins with it."""

import pytest

from jobs import models
from jobs.core.fairshare import UNIT
from jobs.core.inputs import AdmissionChanged
from jobs.core.order import Entry, make_order
from jobs.core.states import Status
from jobs.store import wishes
from jobs.store.shares import order_with_places
from tests.store.benches import NOW, at
from tests.store.test_limit_claims import Node

pytestmark = pytest.mark.django_db(transaction=True)


def waiting(tenant: str, keys: list[int], status: Status = Status.QUEUED) -> None:
    job, _ = models.Job.objects.get_or_create(name=tenant, defaults={"body": "true", "tenant": tenant})
    for key in keys:
        more = {"retry_at": at(99_999)} if status is Status.RETRYING else {}
        models.Instance.objects.create(
            job=job,
            status=status,
            order_key=key,
            queued_at=NOW,
            created_at=NOW,
            due_at=NOW,
            logical_at=at(models.Instance.objects.count()),
            **more,
        )


def test_places_of_before_a_restart_count_after_it(each_database):
    waiting("a", [5 * UNIT, 6 * UNIT, 7 * UNIT])
    waiting("b", [5 * UNIT])
    order = order_with_places("fair", {})
    assert order.key(Entry(1, NOW, NOW, tenant="a")) == 8 * UNIT
    assert order.key(Entry(1, NOW, NOW, tenant="b")) == 6 * UNIT


def test_waiting_retry_holds_its_tenants_place(each_database):
    waiting("a", [9 * UNIT], Status.RETRYING)
    waiting("b", [9 * UNIT])
    assert order_with_places("fair", {}).key(Entry(1, NOW, NOW, tenant="a")) == 10 * UNIT


def test_restart_changes_nobodys_next_place(each_database):
    before = make_order("fair", {"a": 2.0})
    for tenant in "aabab":
        waiting(tenant, [before.key(Entry(1, NOW, NOW, tenant=tenant))])
    after = order_with_places("fair", {"a": 2.0})
    asked = [Entry(1, NOW, NOW, tenant=tenant) for tenant in "baab"]
    assert [after.key(one) for one in asked] == [before.key(one) for one in asked]


def test_other_orders_ask_nothing(django_assert_num_queries):
    with django_assert_num_queries(0):
        order_with_places("edf", {})


def test_tenants_take_turns_before_and_after_a_restart(each_database, settings):
    settings.ORDER = "fair"
    jobs = {name: models.Job.objects.create(name=name, body="true", tenant=name, created_at=NOW) for name in "ab"}
    for tenant in "aaaaaabb":
        wishes.submit(jobs[tenant], cause=models.Instance.Cause.MANUAL, actor="ann", now=NOW)
    began = start_and_end(Node("here", order_with_places("fair", {}), cores=1), 2)
    for tenant in "bb":
        wishes.submit(jobs[tenant], cause=models.Instance.Cause.MANUAL, actor="ann", now=NOW)
    began += start_and_end(Node("here", order_with_places("fair", {}), cores=1), 8)
    assert "".join(began) == "ababababaa"


def start_and_end(node: Node, times: int) -> list[str]:
    """Whose instances ran, one at a time; the last one has ended."""
    whose = []
    node.look()
    for _ in range(times):
        (instance_id,) = node.engine.known.running
        whose.append(models.Instance.objects.get(pk=instance_id).job.tenant)
        if len(whose) == times:
            node.pass_with([AdmissionChanged("restarts")])
        node.end(instance_id)
    return whose


def test_web_leaves_fair_places_to_the_engine(settings):
    settings.ORDER = "fair"
    job = models.Job.objects.create(name="j", body="true")
    instance = wishes.submit(job, cause=models.Instance.Cause.MANUAL, actor="ann", now=NOW)
    assert (instance.status, instance.order_key) == (Status.PENDING, None)
