import pytest

from jobs.core.states import ENDED_BY, LIVE, MOVES, TERMINAL, InvalidTransitionError, OutcomeKind, Status, check_move


@pytest.mark.parametrize("current", sorted(TERMINAL))
@pytest.mark.parametrize("wanted", sorted(Status))
def test_terminal_status_never_changes(current, wanted):
    with pytest.raises(InvalidTransitionError, match="it has ended"):
        check_move(current, wanted)


@pytest.mark.parametrize(("current", "wanted"), [(a, b) for a in sorted(LIVE) for b in sorted(Status)])
def test_only_moves_in_the_table_are_legal(current, wanted):
    if wanted in MOVES[current]:
        check_move(current, wanted)
    else:
        with pytest.raises(InvalidTransitionError, match=f"cannot become {wanted}"):
            check_move(current, wanted)


def test_every_outcome_ends_in_a_legal_status():
    assert set(ENDED_BY) == set(OutcomeKind)
    assert all(status in MOVES[Status.RUNNING] for status in ENDED_BY.values())
