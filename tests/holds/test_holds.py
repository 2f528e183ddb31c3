"""What is said to one who waits: for each code its sentence, and when it should start."""

import pytest

from tests.holds.scene import at, make_job, make_node, make_queued, make_running, why

pytestmark = pytest.mark.django_db


def test_first_in_line_starts_in_a_moment():
    make_node()
    hold = why(make_queued(make_job()))
    assert (hold.code, hold.sentence, hold.predicted_start) == ("turn", "starts in a moment", at(0))


def test_killed_node_starts_nothing():
    make_node(heartbeat_at=at(-2 * 86400))
    hold = why(make_queued(make_job()))
    assert (hold.code, hold.predicted_start) == ("no_node", None)


def test_run_on_a_killed_node_frees_nothing_here():
    run = make_running(make_job(cores=4, usual_seconds=60), make_node("dead", heartbeat_at=at(-3600)), (0, 1, 2, 3))
    make_node("alive")
    hold = why(make_queued(make_job(cores=4)))
    assert hold.code == "turn"
    assert str(run.pk) not in hold.sentence
