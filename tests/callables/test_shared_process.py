"""What one callable does to the host that it shares harms no other in it."""

import json

import pytest

from jobs.execution.launch import Ended
from tests.waiting import until

REFUSED = ["os.chdir", "os.umask", "os.nice", "os.close", "os.dup2", "os.closerange", "os.sched_setaffinity",
           "sys.settrace", "sys.setrecursionlimit", "locale.setlocale"]  # fmt: skip


@pytest.fixture(params=["async", "thread"])
def model(request):
    return request.param


def test_what_would_change_it_for_all_is_refused(shared, model):
    refs = {what: shared.run(f"{model}_changes", what=what) for what in REFUSED}
    for what, ref in refs.items():
        assert shared.outcome(ref).kind == "failed"
        said = f"SharedProcessError: {what} would change the process that this callable shares with others: declare it"
        assert said in shared.outcome(ref).error


@pytest.mark.parametrize("what", ["a signal", "its own pipe", "a look", "a fork"])
def test_what_harms_nobody_is_not(shared, model, what):
    assert shared.outcome(shared.run(f"{model}_changes", what=what)).kind == "success"


def test_what_stops_it_is_undone(shared):
    ref = shared.run("thread_changes", what="stop")

    def ended():
        shared.executor.nudge()
        return shared.reports.ends(ref)

    assert until(ended)[0].outcome.kind == "success"


def test_output_that_one_redirects_is_its_own(shared, free):
    ref = shared.waits("thread_redirects", free)
    other = shared.run("thread_tells", name="it")
    shared.outcome(other)
    assert shared.text(other).startswith("it")
    free.touch()
    assert json.loads(shared.outcome(ref).result) == "inside\n"
    assert shared.text(ref) == "waiting\noutside\n"


def test_fork_that_awaits_does_not_go_on_with_the_loop(shared, free):
    ref = shared.run("async_forks_and_awaits", path=str(free))
    assert json.loads(shared.outcome(ref).result) == "1"
    assert not free.exists()


def test_abandoned_thread_starts_no_process_any_more(shared):
    ref = shared.run("thread_starts_again", grace=0.1)
    shared.prints(ref, "waiting")
    shared.executor.cancel(ref)
    assert until(lambda: [one for one in shared.reports.of(ref) if isinstance(one, Ended)])
