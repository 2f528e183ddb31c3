"""One action on many instances: asked, begun, worked through in the background."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from dashboard import operations
from dashboard.models import BulkOperation
from dashboard.presentation.operation import read_operation
from jobs.models import Event, Instance
from tests.dashboard.places import end, make_job, make_node, make_running, make_waiting

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def started(monkeypatch):
    """Operations are worked through by the test, not by a thread."""
    begun = []
    monkeypatch.setattr(operations, "start", begun.append)
    return begun


def shown(visitor, path, query=None):
    return visitor.get(path, query).content.decode()


def finish(operation_id):
    operations.work(operation_id, clock=timezone.now, rest=lambda: None)
    return BulkOperation.objects.get(pk=operation_id)


def test_cancel_of_selected_asks_and_says_how_many(visitor):
    job, node = make_job(), make_node()
    ids = [make_waiting(job).pk, make_running(job, node).pk, end(make_running(job, node, (1,))).pk]
    asked = visitor.get("/instances/bulk/", {"action": "cancel", "id": ids}).content.decode()
    assert "Cancel 2 instances?" in asked
    assert "1 of the selected stays as it is" in asked
    assert asked.count('name="id"') == 3
    assert not BulkOperation.objects.exists()


def test_cancel_of_selected_does_only_those(visitor, started):
    job = make_job()
    ids = [make_waiting(job).pk for _ in range(3)]
    there = visitor.post("/instances/bulk/", {"action": "cancel", "id": ids[:2]})["Location"]
    operation = finish(started[0])
    assert (operation.total, operation.done, operation.unchanged) == (2, 2, 0)
    assert list(Instance.objects.order_by("id").values_list("status", flat=True)) == ["cancelled"] * 2 + ["queued"]
    assert b"2 of 2 cancelled, or told to stop." in visitor.get(there).content


def test_cancel_of_all_that_match_leaves_later_ones(visitor, started):
    job, other = make_job("merge"), make_job("report")
    for _ in range(operations.PORTION + 5):
        make_waiting(job)
    kept = make_waiting(other).pk
    asked = {"action": "cancel-all", "filter": "job=merge", "up_to": operations.newest_id()}
    later = make_waiting(job).pk
    visitor.post("/instances/bulk/", asked)
    assert finish(started[0]).done == operations.PORTION + 5
    assert set(Instance.objects.filter(status="queued").values_list("pk", flat=True)) == {kept, later}


@pytest.mark.usefixtures("each_database")
def test_retry_of_all_that_match_retries_each_once(visitor, started):
    job, node = make_job(), make_node()
    failed = [end(make_running(job, node), "failed").pk for _ in range(3)]
    end(make_running(job, node))
    asked = {"action": "retry-all", "filter": "status=failed&status=running", "up_to": operations.newest_id()}
    assert "Retry 3 instances?" in visitor.get("/instances/bulk/", asked).content.decode()
    visitor.post("/instances/bulk/", asked)
    finish(started[0])
    assert sorted(Instance.objects.exclude(retry_of=None).values_list("retry_of_id", flat=True)) == failed


def test_deletion_of_all_that_match_leaves_what_lives(visitor, started):
    job, node = make_job(), make_node()
    for status in ("failed", "failed", "success"):
        end(make_running(job, node), status)
    kept = [make_waiting(job).pk, make_running(job, node).pk]
    asked = {"action": "delete", "all": "yes", "filter": "job=report", "up_to": operations.newest_id()}
    page = visitor.get("/instances/bulk/", asked).content.decode()
    assert "Delete 3 instances?" in page
    visitor.post("/instances/bulk/", asked)
    assert finish(started[0]).done == 3
    assert list(Instance.objects.order_by("pk").values_list("pk", flat=True)) == kept
    assert Event.objects.filter(kind="instance.deleted", actor="ann").count() == 3


def test_deletion_of_selected_leaves_the_others(visitor, started):
    job, node = make_job(), make_node()
    ended = [end(make_running(job, node)).pk for _ in range(3)]
    live = make_waiting(job).pk
    asked = {"action": "delete", "id": [*ended[:2], live]}
    assert "1 of the selected stays as it is: it has not ended." in strip_tags(
        shown(visitor, "/instances/bulk/", asked)
    )
    visitor.post("/instances/bulk/", asked)
    operation = finish(started[0])
    assert (operation.total, operation.done, operation.unchanged) == (2, 2, 1)
    assert set(Instance.objects.values_list("pk", flat=True)) == {ended[2], live}


def test_form_sent_twice_begins_one_operation(visitor, started):
    asked = {"action": "cancel", "id": [make_waiting(make_job()).pk], "form_mark": "bulk-twice"}
    first, second = visitor.post("/instances/bulk/", asked), visitor.post("/instances/bulk/", asked)
    assert first["Location"] == second["Location"]
    assert len(started) == BulkOperation.objects.count() == 1


def test_nothing_to_do_is_said_not_begun(visitor):
    ended = end(make_running(make_job(), make_node())).pk
    assert b"None of them can be cancelled" in visitor.get(f"/instances/bulk/?action=cancel&id={ended}").content
    assert b"No instance is selected" in visitor.get("/instances/bulk/?action=cancel").content
    assert visitor.post("/instances/bulk/", {"action": "cancel", "id": ended}).status_code == 409
    assert visitor.post("/instances/bulk/", {"action": "cancel-all", "filter": "status=success"}).status_code == 409


@pytest.mark.parametrize("given", [{}, {"action": "explode"}, {"action": "cancel", "id": "x"}, {"action": "-all"}])
def test_what_no_form_sends_is_refused(visitor, given):
    assert visitor.post("/instances/bulk/", given).status_code == 400


def begun(count=3):
    job, now = make_job(), timezone.now()
    ids = [make_waiting(job).pk for _ in range(count)]
    return operations.begin("cancel", actor="ann", now=now, ids=ids)


def test_stop_leaves_the_rest_alone(visitor):
    operation = begun()
    visitor.post(f"/instances/operations/{operation.pk}/stop/")
    assert finish(operation.pk).ended_at is not None
    assert Instance.objects.filter(status="queued").count() == 3
    assert read_operation(operation.pk, timezone.now())["operation"][0][1].look.word == "stopped"


def test_interrupted_operation_goes_on_where_it_was(visitor, started):
    operation = begun(4)
    moved = operations._one(operation, operation.ids[0], timezone.now() - timedelta(minutes=1))
    assert moved
    page = visitor.get(f"/instances/operations/{operation.pk}/").content.decode()
    assert "interrupted" in page
    assert "1 of 4 cancelled" in page
    for _ in range(2):
        visitor.post(f"/instances/operations/{operation.pk}/continue/")
    assert started == [operation.pk]
    assert finish(operation.pk).done == 4


def test_second_worker_of_an_operation_gives_way():
    operation = begun()
    beside = BulkOperation.objects.get(pk=operation.pk)
    assert operations._one(operation, operation.ids[0], timezone.now())
    assert not operations._one(beside, beside.ids[0], timezone.now())
    assert BulkOperation.objects.get(pk=operation.pk).done == 1


def test_deleted_meanwhile_costs_the_others_nothing():
    operation = begun()
    Instance.objects.filter(pk=operation.ids[1]).delete()
    ended = finish(operation.pk)
    assert (ended.done, ended.unchanged) == (2, 1)
    assert "There is no instance" in ended.refusal


def test_operations_of_last_month_are_forgotten():
    old, ended = begun().pk, timezone.now() - operations.KEPT - timedelta(minutes=1)
    BulkOperation.objects.update(ended_at=ended)
    job = make_job("another")
    new = operations.begin("cancel", actor="ann", now=timezone.now(), ids=[make_waiting(job).pk]).pk
    assert list(BulkOperation.objects.values_list("pk", flat=True)) == [new]
    assert new != old


def test_running_operation_is_said_above_the_list(visitor):
    operation = begun()
    assert f'<a href="/instances/operations/{operation.pk}/">Cancel 3 instances</a>: running' in shown(
        visitor, "/instances/"
    )
    finish(operation.pk)
    assert "operations/" not in shown(visitor, "/instances/")
