"""What waits for its packages says where they are being installed, and since when."""

import pytest

from tests.holds.scene import at, busy, explain, make_job, make_node, make_queued, why

pytestmark = pytest.mark.django_db


def being_made(job, key, node="atlas", **fields):
    subject = {"key": key, "node": node, "since": at(-65).isoformat()}
    return make_queued(job, hold_code="environment", hold_subject=subject, **fields)


def key_of(job):
    from jobs.store.environments import key_of

    return key_of(job, has_block=False)


def test_it_says_where_and_since_when():
    make_node()
    job = make_job(requirements=["pandas"])
    hold = why(being_made(job, key_of(job)))
    assert hold.code == "environment"
    assert hold.sentence == "its packages are being installed on node atlas since 13:58:55 UTC"
    assert hold.predicted_start is None


def test_others_that_need_the_same_say_so_too():
    make_node()
    first, other = make_job(requirements=["pandas"]), make_job(requirements=["pandas"])
    rows = [being_made(first, key_of(first)), make_queued(other), make_queued(first)]
    sentences = {hold.sentence for hold in explain(*rows).values()}
    assert sentences == {
        "its packages are being installed on node atlas since 13:58:55 UTC; 2 others wait for the same"
    }


def test_a_script_that_says_its_needs_is_asked_for_by_its_job():
    make_node()
    job = make_job()
    assert why(being_made(job, f"job:{job.pk}:{job.revision}")).code == "environment"


def test_a_reason_from_before_an_edit_is_not_told():
    make_node()
    job = make_job(requirements=["pandas"])
    assert why(being_made(job, "another")).code == "turn"


def test_a_reason_that_the_first_in_order_no_longer_has_is_not_told():
    node = make_node()
    job = make_job(requirements=["pandas"])
    busy(node)
    make_queued(job, hold_code="cores")
    assert why(being_made(job, key_of(job))).code == "cores"


def test_a_node_that_is_gone_installs_nothing():
    make_node()
    job = make_job(requirements=["pandas"])
    assert why(being_made(job, key_of(job), node="gone")).code == "turn"
