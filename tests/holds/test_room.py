"""What lacks room says how much, whose end gives it and when; or for whom it is kept."""

import pytest

from jobs.models import Instance, Job, Node
from tests.dashboard.places import end
from tests.holds.scene import NOW, at, busy, explain, make_job, make_node, make_queued, make_running, why

pytestmark = pytest.mark.django_db


# --- cores and memory ---


def test_lack_of_cores_is_said_with_whose_end_frees_enough():
    run = make_running(make_job(2, usual_seconds=1930), make_node(), (0, 1))
    hold = why(make_queued(make_job(4)))
    assert (hold.code, hold.predicted_start, hold.unknown_because) == ("cores", at(1930), "")
    assert hold.sentence == f"needs 4 cores, 2 are free; instance {run.pk} frees enough at about 14:32:10 UTC"


def test_one_core_is_said_in_the_singular():
    make_running(make_job(), make_node(cores=2), (0,))
    assert why(make_queued(make_job(2))).sentence == "needs 2 cores, 1 is free"


def test_no_core_is_said_as_none():
    run = busy(make_node(cores=1), cores=1, seconds=60)
    sentence = why(make_queued(make_job())).sentence
    assert sentence == f"needs 1 core, none is free; instance {run.pk} frees enough at about 14:01:00 UTC"


def test_two_that_free_enough_together_are_named():
    node = make_node()
    a, b = (make_running(make_job(2, usual_seconds=60 * n), node, (2 * n - 2, 2 * n - 1)) for n in (1, 2))
    sentence = why(make_queued(make_job(4))).sentence
    assert sentence == (f"needs 4 cores, none is free; instances {b.pk} and {a.pk} free enough at about 14:02:00 UTC")


def test_many_that_free_enough_together_are_counted():
    node = make_node()
    runs = [make_running(make_job(usual_seconds=60 * n), node, (n - 1,)) for n in (1, 2, 3, 4)]
    sentence = why(make_queued(make_job(4))).sentence
    assert sentence.endswith(f"; instances {runs[-1].pk} and 3 others free enough at about 14:04:00 UTC")


def test_lack_of_memory_is_said_in_megabytes():
    run = busy(make_node(memory_mb=1000), cores=1, seconds=60, memory_mb=999)
    hold = why(make_queued(make_job(memory_mb=500)))
    assert (hold.code, hold.predicted_start) == ("memory", at(60))
    assert hold.sentence == (
        f"needs 500 MB of memory, 1 MB is free; instance {run.pk} frees enough at about 14:01:00 UTC"
    )


def test_memory_of_a_node_that_counts_none_never_lacks():
    busy(make_node(memory_mb=0), cores=1, memory_mb=999)
    assert why(make_queued(make_job(memory_mb=50_000))).sentence == "starts in a moment"


def test_run_of_unknown_length_makes_the_start_unknown():
    run = busy(make_node(), seconds=None)
    hold = why(make_queued(make_job(4)))
    assert (hold.sentence, hold.predicted_start) == ("needs 4 cores, none is free", None)
    assert f"how long instance {run.pk} will take" in hold.unknown_because


def test_time_limit_stands_in_for_a_usual_duration():
    busy(make_node(), seconds=None, timeout_seconds=300)
    assert why(make_queued(make_job(4))).predicted_start == at(300)


def test_run_over_its_time_may_end_any_moment():
    run = make_running(make_job(4, usual_seconds=60), make_node(), (0, 1, 2, 3), began_at=at(-900))
    hold = why(make_queued(make_job(4)))
    assert hold.predicted_start == NOW
    assert hold.sentence == (
        f"needs 4 cores, none is free; instance {run.pk} frees enough any moment: it has run longer than expected"
    )


def test_third_attempt_is_timed_from_its_own_beginning():
    # The first one began twenty minutes ago, and started_at of the instance stays at that.
    run = make_running(make_job(4, usual_seconds=600), make_node(), (0, 1, 2, 3), began_at=at(-1200))
    run.attempts.update(number=3, created_at=at(-1), started_at=NOW)
    assert why(make_queued(make_job(4))).predicted_start == at(600)


def test_attempt_whose_process_is_not_there_yet_is_timed_from_its_making():
    run = busy(make_node())
    run.attempts.update(status="starting", started_at=None, created_at=at(-5))
    assert why(make_queued(make_job(4))).predicted_start == at(595)


def test_virtual_slots_count_as_room():
    node = make_node(overcommit=1.5)
    busy(node)
    assert why(make_queued(make_job(2))).sentence == "starts in a moment"
    assert why(make_queued(make_job(3))).sentence.startswith("needs 3 cores, 2 virtual slots are free;")


def test_free_virtual_slots_are_told_from_cores():
    node = make_node(overcommit=1.5)
    busy(node, 3)
    assert why(make_queued(make_job(4))).sentence.startswith("needs 4 cores, 3 are free, 2 of them virtual;")


def test_node_that_is_free_first_gives_the_numbers():
    busy(make_node("atlas"), seconds=900)
    run = busy(make_node("bora"), cores=3, seconds=300)
    hold = why(make_queued(make_job(4)))
    assert hold.predicted_start == at(300)
    assert hold.sentence == (f"needs 4 cores, 1 is free on bora; instance {run.pk} frees enough at about 14:05:00 UTC")


def test_room_on_any_node_is_enough():
    busy(make_node("atlas"))
    make_node("bora")
    assert why(make_queued(make_job(4))).sentence == "starts in a moment"


# --- kept for a bigger one ---


def kept(cores=4, **fields):
    """A node that keeps its two free cores for the big one at the front of its queue."""
    node = make_node()
    run = make_running(make_job(2, usual_seconds=300), node, (0, 1))
    big = make_queued(make_job(cores, usual_seconds=60, **fields), hold_code="cores")
    Node.objects.update(kept_for=big.pk)
    return run, big


def test_cores_kept_for_a_bigger_one_name_it():
    _, big = kept()
    hold = why(make_queued(make_job(), hold_code="behind"))
    assert (hold.code, hold.predicted_start) == ("behind", at(360))
    assert hold.sentence == (
        f"needs 1 core, 2 are free, but kept for instance {big.pk}, which is ahead of it and needs 4 cores; "
        "it should start at about 14:06:00 UTC"
    )


def test_all_that_are_kept_out_say_so():
    # The engine writes its reason only on the first of those with the same demand.
    _, big = kept()
    first, second = (make_queued(make_job(), hold_code=code) for code in ("behind", "turn"))
    assert {hold.code for hold in explain(first, second).values()} == {"behind"}
    assert f"instance {big.pk}" in why(second).sentence


def test_big_one_that_ended_keeps_nothing():
    _, big = kept()
    small = make_queued(make_job(), hold_code="behind", hold_subject={"instance": big.pk})
    Instance.objects.filter(pk=big.pk).update(status="cancelled", ended_at=NOW)
    hold = why(small)
    assert (hold.code, hold.sentence) == ("turn", "starts in a moment")


def test_big_one_that_fits_by_now_keeps_nothing():
    run, big = kept()
    end(run)
    hold = why(make_queued(make_job(), hold_code="behind", hold_subject={"instance": big.pk}))
    assert hold.sentence == "1 is ahead of it; it should start at about 14:01:00 UTC"


def test_one_ahead_of_the_big_one_is_not_behind_it():
    kept()
    assert why(make_queued(make_job(), order_key=-1)).sentence == "starts in a moment"


def test_one_that_lacks_cores_itself_says_that():
    kept()
    assert why(make_queued(make_job(3), hold_code="behind")).code == "cores"


def test_start_behind_one_of_unknown_start_is_unknown():
    run, big = kept()
    Job.objects.filter(pk=run.job_id).update(usual_seconds=None)
    hold = why(make_queued(make_job()))
    assert (hold.code, hold.predicted_start) == ("behind", None)
    assert hold.sentence.endswith("which is ahead of it and needs 4 cores")
    assert hold.unknown_because == f"it comes after instance {big.pk}, whose start is unknown"
