"""What a limit, a rate or another of its job holds back says so with numbers, and whose turn it is is told by order."""

import pytest

from jobs.models import Instance, Limit
from tests.dashboard.places import make_waiting
from tests.holds.scene import NOW, at, busy, make_job, make_node, make_queued, make_running, why

pytestmark = pytest.mark.django_db


def limit(name="etl", maximum=2, kind="tag"):
    return Limit.objects.create(kind=kind, name=name, maximum=maximum)


def test_full_tag_says_whose_end_makes_a_place():
    limit()
    node = make_node(cores=8)
    job = make_job(tags=["etl"], usual_seconds=600)
    first = make_running(job, node, (0,), began_at=at(-120))
    make_running(job, node, (1,))
    hold = why(make_queued(job))
    assert (hold.code, hold.predicted_start) == ("limit", at(480))
    assert hold.sentence == f"tag etl allows 2 at once, 2 run; instance {first.pk} ends at about 14:08:00 UTC"


def test_second_in_line_for_a_limit_is_told_when_it_starts():
    limit(maximum=1)
    job = make_job(tags=["etl"], usual_seconds=60)
    run = make_running(job, make_node(), (0,))
    make_queued(job)
    hold = why(make_queued(job))
    assert hold.predicted_start == at(120)
    assert hold.sentence == (
        f"tag etl allows 1 at once, 1 runs; instance {run.pk} ends at about 14:01:00 UTC; "
        "it should start at about 14:02:00 UTC"
    )


def test_job_that_limits_itself_says_so():
    job = make_job(max_running=1, usual_seconds=60)
    make_running(job, make_node(), (0,))
    assert why(make_queued(job)).sentence.startswith("its job allows 1 at once, 1 runs; instance")


def test_model_that_is_full_is_named():
    limit("process", 0, "model")
    make_node()
    hold = why(make_queued(make_job()))
    assert (hold.code, hold.sentence) == ("limit", "the model process allows 0 at once, none runs")
    assert (hold.predicted_start, hold.unknown_because) == (None, "the limit lets none of them run")


def test_limit_of_nothing_promises_no_place():
    limit(maximum=0)
    job = make_job(tags=["etl"], usual_seconds=60)
    node = make_node(cores=4)
    make_running(job, node, (0,))
    make_running(make_job(tags=["etl"]), node, (1,))
    hold = why(make_queued(job))
    assert (hold.code, hold.sentence) == ("limit", "tag etl allows 0 at once, 2 run")
    assert (hold.predicted_start, hold.unknown_because) == (None, "the limit lets none of them run")


def test_limit_that_lets_none_run_is_the_reason():
    limit(maximum=0)
    job = make_job(tags=["etl"], max_running=1, usual_seconds=60)
    make_running(job, make_node(), (0,))
    assert why(make_queued(job)).sentence == "tag etl allows 0 at once, 1 runs"


def test_limit_below_what_runs_names_the_end_that_makes_a_place():
    limit(maximum=1)
    job = make_job(tags=["etl"], usual_seconds=600)
    node = make_node(cores=4)
    make_running(job, node, (0,), began_at=at(-300))
    last = make_running(job, node, (1,), began_at=at(-120))
    hold = why(make_queued(job))
    assert hold.predicted_start == at(480)
    assert hold.sentence == f"tag etl allows 1 at once, 2 run; instance {last.pk} ends at about 14:08:00 UTC"


def test_limit_below_what_runs_promises_nothing_while_an_end_is_unknown():
    limit(maximum=1)
    node = make_node(cores=4)
    make_running(make_job(tags=["etl"], usual_seconds=600), node, (0,))
    endless = make_running(make_job(tags=["etl"]), node, (1,))
    hold = why(make_queued(make_job(tags=["etl"])))
    assert hold.sentence == "tag etl allows 1 at once, 2 run"
    assert f"how long instance {endless.pk} will take" in hold.unknown_because


@pytest.mark.parametrize(
    ("per_second", "said"), [(1e-12, "1 every 366 d"), (1 / 5400, "1 every 1.5 h"), (0.5, "1 every 2 s")]
)
def test_slow_rate_is_told_in_its_unit(per_second, said):
    Limit.objects.create(kind="rate", name="api", rate_per_second=per_second, burst=1, tokens=0, refilled_at=NOW)
    make_node()
    assert why(make_queued(make_job(rates=["api"]))).sentence.startswith(f"api allows {said}; its turn is at")


def test_holder_of_unknown_length_makes_the_start_unknown():
    limit(maximum=1)
    job = make_job(tags=["etl"])
    run = make_running(job, make_node(), (0,))
    hold = why(make_queued(job))
    assert (hold.code, hold.predicted_start) == ("limit", None)
    assert f"how long instance {run.pk} will take" in hold.unknown_because


def test_empty_bucket_says_when_its_turn_is():
    Limit.objects.create(kind="rate", name="api", rate_per_second=0.5, burst=1, tokens=0, refilled_at=NOW)
    make_node()
    job = make_job(rates=["api"], usual_seconds=1)
    first, second = make_queued(job), make_queued(job)
    assert (why(first).code, why(first).predicted_start) == ("rate", at(2))
    assert why(first).sentence == "api allows 1 every 2 s; its turn is at 14:00:02 UTC"
    assert why(second).sentence == "api allows 1 every 2 s; its turn is at 14:00:04 UTC"


def test_one_after_another_waits_for_the_end():
    job = make_job(usual_seconds=60)
    run = make_running(job, make_node(), (0,))
    hold = why(make_queued(job, serial=True))
    assert (hold.code, hold.predicted_start) == ("overlap", at(60))
    assert hold.sentence == f"waits until instance {run.pk} of the same job has ended, at about 14:01:00 UTC"


def test_one_after_another_waits_for_a_retry():
    make_node()
    job = make_job(usual_seconds=60)
    first = make_waiting(job, "retrying", now=NOW, retry_at=at(30), order_key=-1, attempt_count=1)
    hold = why(make_queued(job, serial=True))
    assert (hold.code, hold.predicted_start) == ("overlap", at(90))
    assert hold.sentence == (
        f"waits until instance {first.pk} of the same job has ended, which failed and is tried again at about "
        "14:00:30 UTC"
    )


def test_held_ones_are_in_nobodys_way():
    limit(maximum=0)
    make_node()
    make_queued(make_job(4, tags=["etl"], usual_seconds=60))
    assert why(make_queued(make_job())).sentence == "starts in a moment"


def test_start_deadline_is_told():
    job = make_job(4, start_deadline_seconds=3600)
    run = busy(make_node())
    hold = why(make_queued(job))
    assert hold.sentence == (
        f"needs 4 cores, none is free; instance {run.pk} frees enough at about 14:10:00 UTC; "
        "it is skipped if not started by 15:00:00 UTC"
    )
    assert why(make_waiting(job, "pending", now=NOW, due_at=at(60))).sentence.endswith("not started by 15:01:00 UTC")
    assert "skipped" not in why(make_queued(job, attempt_count=1)).sentence


def test_fair_turn_says_of_which_tenants(settings):
    settings.ORDER = "fair"
    make_node()
    for tenant in ("x", "x", ""):
        make_queued(make_job(4, usual_seconds=60, tenant=tenant))
    hold = why(make_queued(make_job(tenant="y")))
    assert hold.sentence == ("3 are ahead of it (2 of tenant x, 1 of no tenant); it should start at about 14:03:00 UTC")


def test_run_on_a_dead_node_holds_its_place_for_ever():
    limit(maximum=1)
    job = make_job(tags=["etl"], usual_seconds=60)
    make_running(job, make_node("dead", heartbeat_at=at(-3600)), (0,))
    make_node("alive")
    hold = why(make_queued(job))
    assert (hold.code, hold.predicted_start) == ("limit", None)
    assert Instance.objects.filter(status="running").count() == 1
