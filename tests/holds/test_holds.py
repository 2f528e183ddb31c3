"""What is said to one who waits: for each code its sentence, and when it should start."""

import pytest

from jobs import holds
from jobs.models import Instance
from tests.dashboard.between import Moving
from tests.dashboard.places import abandon, end, make_waiting
from tests.holds.scene import NOW, at, busy, explain, make_job, make_node, make_queued, make_running, why

pytestmark = pytest.mark.django_db


# --- not yet in the queue ---


def test_pending_one_says_when_it_is_due():
    hold = why(make_waiting(make_job(), "pending", due_at=at(90)))
    assert (hold.code, hold.sentence, hold.predicted_start) == ("not_due", "is due at 14:01:30 UTC", at(90))


def test_other_day_is_said_with_its_date():
    assert why(make_waiting(make_job(), "pending", due_at=at(86400))).sentence == "is due at 2026-12-01 14:00:00 UTC"


def test_retrying_one_says_when_the_next_attempt_is():
    hold = why(make_waiting(make_job(), "retrying", retry_at=at(30), attempt_count=2))
    assert (hold.code, hold.predicted_start) == ("retry_wait", at(30))
    assert hold.sentence == "attempt 2 failed; the next is at about 14:00:30 UTC"


@pytest.mark.parametrize(("status", "code"), [("pending", "not_due"), ("retrying", "retry_wait")])
def test_due_moment_of_a_paused_job_is_no_start(status, code):
    job = make_job(paused_at=NOW, paused_by="ann")
    hold = why(make_waiting(job, status, due_at=at(60), **({"retry_at": at(60)} if status == "retrying" else {})))
    assert (hold.code, hold.predicted_start, hold.unknown_because) == (code, None, "it waits until the job is resumed")
    assert hold.sentence.endswith("14:01:00 UTC, but the job is paused by ann")


@pytest.mark.parametrize("status", ["pending", "retrying"])
def test_one_that_comes_due_starts_in_a_moment(status):
    make_node()
    hold = why(make_waiting(make_job(), status, due_at=at(-1), retry_at=at(-1)))
    assert (hold.code, hold.sentence, hold.predicted_start) == ("turn", "starts in a moment", NOW)


def test_one_that_comes_due_joins_the_queue():
    make_node()
    make_queued(make_job())
    hold = why(make_waiting(make_job(), "pending", due_at=at(-1)))
    assert (hold.code, hold.predicted_start) == ("turn", None)
    assert hold.sentence == "its moment has come; it joins the queue in a moment"


def test_due_one_says_that_nobody_runs():
    assert why(make_waiting(make_job(), "pending", due_at=at(-3600))).code == "no_node"


def test_one_that_ended_needs_no_reason():
    assert explain(end(busy(make_node()))) == {}


# --- no node for it ---


def test_without_a_node_nothing_starts():
    hold = why(make_queued(make_job()))
    assert (hold.code, hold.sentence) == ("no_node", "no node runs the scheduler")
    assert (hold.predicted_start, hold.unknown_because) == (None, "it waits until the scheduler is started")


def test_stopped_node_starts_nothing():
    make_node(stopped_at=at(-60))
    assert why(make_queued(make_job())).sentence == "no node runs the scheduler"


def test_killed_node_starts_nothing():
    make_node(heartbeat_at=at(-2 * 86400))
    hold = why(make_queued(make_job()))
    assert (hold.code, hold.predicted_start) == ("no_node", None)
    assert hold.sentence == "no node runs the scheduler; atlas was last seen at 2026-11-28 14:00:00 UTC"


def test_run_on_a_killed_node_frees_nothing_here():
    run = busy(make_node("dead", heartbeat_at=at(-3600)))
    make_node("alive")
    hold = why(make_queued(make_job(cores=4)))
    assert hold.code == "turn"
    assert str(run.pk) not in hold.sentence


def test_paused_job_says_by_whom():
    make_node()
    hold = why(make_queued(make_job(paused_at=NOW, paused_by="ann")))
    assert (hold.code, hold.sentence, hold.predicted_start) == ("paused", "the job is paused by ann", None)
    assert why(make_queued(make_job(paused_at=NOW))).sentence == "the job is paused"


def test_full_disk_is_said_with_its_sentence():
    make_node(admission_stopped="Nothing new starts: the disk is full.")
    hold = why(make_queued(make_job()))
    assert (hold.code, hold.sentence) == ("admission_stopped", "Nothing new starts: the disk is full.")
    assert (hold.predicted_start, hold.unknown_because) == (None, "it waits until starts are allowed again")


def test_full_disk_of_one_of_two_nodes_stops_nothing():
    make_node("atlas", 8, admission_stopped="Nothing new starts: the disk is full.")
    run = busy(make_node("bora"))
    hold = why(make_queued(make_job(4)))
    assert (hold.code, hold.predicted_start) == ("cores", at(600))
    assert hold.sentence == (
        f"needs 4 cores, none is free on bora; instance {run.pk} frees enough at about 14:10:00 UTC"
    )


def test_full_disk_of_the_only_node_that_could_is_said():
    make_node("atlas", 8, admission_stopped="Its disk is full.")
    make_node("bora", 2)
    hold = why(make_queued(make_job(4)))
    assert (hold.code, hold.sentence) == ("admission_stopped", "Its disk is full.")


def test_full_disks_of_all_nodes_are_named():
    make_node("atlas", admission_stopped="Its disk is full.")
    make_node("bora", admission_stopped="So is this one.")
    assert why(make_queued(make_job())).sentence == "on atlas: Its disk is full; on bora: So is this one"


@pytest.mark.parametrize(
    ("cores", "memory_mb", "sentence"),
    [
        (9, 0, "needs 9 cores, and no node that runs now can give more than 8"),
        (1, 9999, "needs 9999 MB of memory, and no node that runs now can give more than 8000 MB"),
        (8, 5000, "needs 8 cores and 5000 MB of memory, and no node that runs now can give both"),
    ],
)
def test_too_much_for_each_node_is_said_with_the_most(cores, memory_mb, sentence):
    make_node("atlas", 8, memory_mb=1000)
    make_node("bora", 2, memory_mb=8000)
    hold = why(make_queued(make_job(cores, memory_mb=memory_mb)))
    assert (hold.code, hold.sentence, hold.predicted_start) == ("node_too_small", sentence, None)
    assert hold.unknown_because == "it waits until a node runs that is large enough"


def test_stored_too_small_is_computed_again():
    # A small node wrote it, and a larger one runs as well.
    make_node("atlas", 8)
    make_node("bora", 2)
    assert why(make_queued(make_job(8), hold_code="node_too_small")).code == "turn"


# --- its turn ---


def test_first_in_line_starts_in_a_moment():
    make_node()
    hold = why(make_queued(make_job()))
    assert (hold.code, hold.sentence, hold.predicted_start) == ("turn", "starts in a moment", NOW)


def test_all_that_fit_together_start_in_a_moment():
    make_node()
    queue = [make_queued(make_job(2)) for _ in range(2)]
    assert [hold.sentence for hold in explain(*queue).values()] == ["starts in a moment"] * 2


@pytest.mark.parametrize(("others", "words"), [(1, "1 is ahead of it"), (2, "2 are ahead of it")])
def test_those_ahead_are_counted(others, words):
    make_node()
    for _ in range(others):
        make_queued(make_job(4, usual_seconds=60))
    hold = why(make_queued(make_job()))
    assert (hold.code, hold.predicted_start) == ("turn", at(60 * others))
    assert hold.sentence == f"{words}; it should start at about 14:0{others}:00 UTC"


def test_paused_and_too_big_ones_are_in_nobodys_way():
    make_node()
    make_queued(make_job(4, paused_at=NOW))
    make_queued(make_job(40))
    make_queued(make_job(4, usual_seconds=60))
    hold = why(make_queued(make_job()))
    assert hold.sentence == "1 is ahead of it; it should start at about 14:01:00 UTC"


def test_far_back_in_the_queue_nobody_guesses():
    make_node(cores=2)
    job = make_job(2, usual_seconds=1)
    queue = [make_queued(job) for _ in range(holds.LOOKED_THROUGH + 1)]
    hold = why(queue[-1])
    assert (hold.code, hold.predicted_start) == ("turn", None)
    assert hold.sentence == f"waits for its turn: at least {holds.LOOKED_THROUGH} are ahead of it"
    assert why(queue[-2]).predicted_start == at(holds.LOOKED_THROUGH - 1)


def test_one_that_left_the_queue_meanwhile_starts_in_a_moment():
    make_node()
    stale = make_queued(make_job())
    Instance.objects.filter(pk=stale.pk).update(status="cancelled", ended_at=NOW)
    assert holds.explain([stale], NOW)[stale.pk].sentence == "starts in a moment"


def fail(run, retry_at):
    run.attempts.update(status="ended", outcome="failed", ended_at=NOW, duration_seconds=1)
    Instance.objects.filter(pk=run.pk).update(status="retrying", token="", retry_at=retry_at)


def fail_and_join_the_queue(run, retry_at):
    fail(run, retry_at)
    Instance.objects.filter(pk=run.pk).update(status="queued", queued_at=NOW, order_key=0)


@pytest.mark.parametrize("move", [fail, fail_and_join_the_queue])
@pytest.mark.parametrize("seconds", [-5, 5])
def test_run_that_fails_while_we_look_waits_and_holds_nothing(move, seconds):
    """The page that asked answered 500: one instance ran, and waited for the cores that it held."""
    run = busy(make_node(cores=1), cores=1)
    waiting = make_queued(make_job(), order_key=1)
    with Moving(lambda sql, _: '"jobs_attempt"' in sql, lambda: move(run, at(seconds))).during():
        hold = why(waiting)
    assert hold == why(waiting)


def test_one_that_starts_and_fails_while_we_look_is_in_nobodys_way():
    node = make_node(cores=1)
    first, second = make_queued(make_job()), make_queued(make_job())

    def start_and_fail():
        started = {"node": node, "cores": [0], "attempt_count": 1, "token": "token", "started_at": NOW}
        Instance.objects.filter(pk=first.pk).update(status="running", hold_code="", **started)
        fail(first, at(5))

    with Moving(lambda _, params: "queued" in (params or ()), start_and_fail).during():
        assert explain(first, second)[second.pk].predicted_start == NOW


# --- what an abandoned thread holds ---


THREAD = {"kind": "callable", "execution_model": "thread"}
HELD = "the thread of instance {}, which has ended, holds what it was given until it returns"


def test_cores_of_an_abandoned_thread_are_not_free():
    """It said that the next would start in a moment, for as long as the thread ran on."""
    run = abandon(busy(make_node(cores=2), cores=2), now=NOW)
    hold = why(make_queued(make_job(2)))
    assert (hold.code, hold.predicted_start) == ("cores", None)
    assert hold.sentence == f"needs 2 cores, none is free; {HELD.format(run.pk)}"


def test_place_of_an_abandoned_thread_is_not_free():
    job = make_job(max_running=1)
    run = abandon(make_running(job, make_node()), now=NOW)
    hold = why(make_queued(job))
    assert hold.code == "limit"
    assert hold.sentence.endswith(
        f"the thread of instance {run.pk}, which has ended, holds what it was given until it returns"
    )


def test_thread_that_was_abandoned_is_waited_for_by_the_next_of_its_job():
    job = make_job()
    run = abandon(make_running(job, make_node()), now=NOW)
    hold = why(make_queued(job, serial=True))
    assert hold.code == "overlap"
    assert (
        hold.sentence == f"waits until the thread of instance {run.pk} of the same job, which has ended, has returned"
    )


def test_threads_of_a_node_that_is_gone_hold_nothing_here():
    abandon(busy(make_node("gone", cores=1, heartbeat_at=at(-600)), cores=1), now=NOW)
    make_node()
    assert why(make_queued(make_job())).sentence == "starts in a moment"


@pytest.fixture
def full():
    """Of two nodes the only one that is large enough for two cores; a thread holds both of these, one all memory."""
    node = make_node("atlas", cores=2, memory_mb=1000)
    by_cores = abandon(make_running(make_job(2), node, (0, 1)), now=NOW)
    by_memory = abandon(make_running(make_job(0, memory_mb=1000, **THREAD), node, ()), now=NOW)
    return by_cores.pk, by_memory.pk


def test_threads_that_hold_none_of_what_lacks_are_not_named(full):
    by_cores, by_memory = full
    assert why(make_queued(make_job(2))).sentence.endswith(f"none is free; {HELD.format(by_cores)}")
    memory = why(make_queued(make_job(0, memory_mb=500, **THREAD)))
    assert memory.sentence == f"needs 500 MB of memory, 0 MB are free; {HELD.format(by_memory)}"


def test_threads_on_nodes_that_could_not_run_it_are_not_named(full):
    small = make_node("bora", cores=1)
    abandon(make_running(make_job(1), small, (0,)), now=NOW)
    drained = make_node("cora", cores=2, drained_at=NOW)
    abandon(make_running(make_job(2), drained, (0, 1)), now=NOW)
    sentence = why(make_queued(make_job(2))).sentence
    assert sentence == f"needs 2 cores, none is free on atlas; {HELD.format(full[0])}"


def test_threads_on_each_node_that_could_run_it_are_named(full):
    other = abandon(make_running(make_job(2), make_node("bora", cores=2), (0, 1)), now=NOW)
    assert f"instance {full[0]}, which has ended, and 1 other, holds" in why(make_queued(make_job(2))).sentence
    assert other.pk > full[0]


def test_no_thread_is_named_where_none_holds_what_lacks():
    """What runs without a limit does, and is named by what makes the start unknown."""
    node = make_node(cores=2)
    run = busy(node, cores=2, seconds=None)
    abandon(make_running(make_job(0, memory_mb=10, **THREAD), node, ()), now=NOW)
    hold = why(make_queued(make_job(1)))
    assert hold.sentence == "needs 1 core, none is free"
    assert f"how long instance {run.pk} will take" in hold.unknown_because


# --- what it costs ---


def test_queries_do_not_grow_with_rows(django_assert_num_queries):
    queue = [make_queued(make_job(4)), make_waiting(make_job(), "pending", due_at=at(60))]
    for name in ("atlas", "bora"):
        busy(make_node(name))
    with django_assert_num_queries(7):  # its own, of the instances, among them
        explain(*queue)
    queue += [make_queued(make_job(4)) for _ in range(20)]
    for n in range(5):
        busy(make_node(f"node {n}"))
    with django_assert_num_queries(7):
        assert len(explain(*queue)) == 22


def test_what_is_not_due_asks_for_no_queue(django_assert_num_queries):
    pending = make_waiting(make_job(), "pending", due_at=at(60))
    with django_assert_num_queries(2):  # the second asks for its upstreams
        explain(pending)


def test_scripts_stay_where_they_are(django_assert_num_queries):
    busy(make_node())
    waiting = make_queued(make_job(4))
    with django_assert_num_queries(6) as asked:
        explain(waiting)
    read = [query["sql"].split(" FROM ")[0] for query in asked.captured_queries[1:]]
    assert not any('"body"' in columns for columns in read)


def test_draining_node_is_named():
    make_node("atlas", drained_at=NOW, drained_by="ann")
    hold = why(make_queued(make_job()))
    assert (hold.code, hold.sentence, hold.predicted_start) == (
        "draining",
        "node atlas was drained by ann and starts nothing until it is undrained",
        None,
    )
    assert hold.unknown_because == "it waits until a node that can run it takes work again"


def test_draining_node_leaves_work_to_the_other():
    make_node("atlas", 8, drained_at=NOW)
    run = busy(make_node("bora"))
    hold = why(make_queued(make_job(4)))
    assert (hold.code, hold.predicted_start) == ("cores", at(600))
    assert f"none is free on bora; instance {run.pk} frees enough" in hold.sentence


def test_draining_and_full_nodes_are_both_named():
    make_node("atlas", admission_stopped="Its disk is full.")
    make_node("bora", drained_at=NOW)
    hold = why(make_queued(make_job()))
    assert (hold.code, hold.sentence) == (
        "admission_stopped",
        "on atlas: Its disk is full; node bora was drained and starts nothing until it is undrained",
    )
