"""What is made of each answer that the executor gives about an attempt from before."""

from unittest.mock import Mock

import pytest

from jobs import models
from jobs.core.cores import CoreManager
from jobs.core.engine import Engine
from jobs.core.inputs import Abandoned, Began
from jobs.core.order import ByPriority
from jobs.core.records import Allocation, Outcome
from jobs.core.states import OutcomeKind
from jobs.execution.claim import ForeignHolderError
from jobs.execution.launch import Recovery, RecoveryKind
from jobs.service.recovery import recover
from tests.service.clockwork import Clockwork
from tests.store.benches import NOW

pytestmark = pytest.mark.django_db


class Answers:
    """Stands in for an executor that knows of one attempt."""

    def __init__(self, answer) -> None:
        self.answer = answer

    def recover(self, _ref):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def in_flight(status="starting", node=None, **fields) -> models.Attempt:
    job = models.Job.objects.create(name="j", body="true", created_at=NOW)
    node = node or models.Node.objects.create(name="here")
    instance = models.Instance.objects.create(
        job=job, logical_at=NOW, due_at=NOW, created_at=NOW, queued_at=NOW, order_key=1, cause="manual",
        status="running", token="t", node=node, cores=[0], attempt_count=1, started_at=NOW, **fields,
    )  # fmt: skip
    return models.Attempt.objects.create(
        instance=instance, number=1, token="t", status=status, node=node, cores=[0], created_at=NOW
    )


def recovered(attempt, answer, **hand):
    engine = Engine(CoreManager([0, 1]), order=ByPriority(), new_token=str, uniform=max)
    hand = {"in_hand": set(), "unsettled": {}, **hand}
    found = recover(engine, Answers(answer), attempt.node_id, lambda: NOW, **hand)
    assert engine.manager.holds() == {attempt.instance_id: Allocation((0,), 0, 0)}
    return found


NEVER_RAN = Recovery(RecoveryKind.NEVER_RAN)
ADOPTED = Recovery(RecoveryKind.ADOPTED)
ADOPTED_AT_WORK = Recovery(RecoveryKind.ADOPTED, started_at=NOW)
ENDED = Recovery(RecoveryKind.ENDED, Outcome(OutcomeKind.SUCCESS, NOW))


def kinds(found):
    return [told.outcome.kind for told in found.inputs]


def test_attempt_that_never_ran_is_launched():
    assert recovered(in_flight(), NEVER_RAN).launch == ["t"]


def test_cancelled_before_it_ran_is_not_launched():
    found = recovered(in_flight(cancel_requested_at=NOW), NEVER_RAN)
    assert (found.launch, kinds(found)) == ([], ["cancelled"])


def test_begun_attempt_without_a_directory_is_lost():
    found = recovered(in_flight("running"), NEVER_RAN)
    assert (found.launch, kinds(found)) == ([], ["lost"])


def test_living_attempt_is_adopted():
    found = recovered(in_flight("running"), ADOPTED)
    assert (found.adopted, found.stop, found.inputs) == (["t"], [], [])


def test_start_that_was_not_recorded_is_told():
    attempt = in_flight()
    assert recovered(attempt, ADOPTED_AT_WORK).inputs == [Began(attempt.instance_id, "t", NOW)]


def test_wish_to_cancel_is_passed_on_to_an_adopted_one():
    assert [ref.token for ref in recovered(in_flight(cancel_requested_at=NOW), ADOPTED).stop] == ["t"]


def test_outcome_from_meanwhile_is_told():
    assert kinds(recovered(in_flight("running"), ENDED)) == ["success"]


def test_outcome_that_was_not_committed_is_told_again():
    failed = Outcome(OutcomeKind.FAILED, NOW)
    assert kinds(recovered(in_flight("running"), NEVER_RAN, unsettled={"t": failed})) == ["failed"]


def test_attempt_in_hand_is_not_asked_for():
    found = recovered(in_flight(), AssertionError("asked"), in_hand={"t"})
    assert (found.launch, found.inputs) == ([], [])


@pytest.mark.parametrize(
    "error", [ForeignHolderError("/runs/1"), OSError(5, "Input/output error"), RecursionError("unforeseen")]
)
def test_attempt_that_cannot_be_seen_keeps_its_cores(error, caplog):
    found = recovered(in_flight("running"), error)
    assert (found.launch, found.inputs) == ([], [])
    assert "is left as it is" in caplog.text


@pytest.mark.parametrize(("found", "status"), [(NEVER_RAN, "running"), (ENDED, "success")])
def test_attempt_that_could_not_be_seen_is_asked_for_again(found, status, settings, tmp_path):
    """It waited for the next start of the service, "running" or not, and with it its cores."""
    settings.DATA_DIR = tmp_path
    clockwork = Clockwork()
    attempt = in_flight(node=clockwork.node)
    clockwork.processes.recover = Mock(side_effect=OSError(28, "No space left on device"))
    clockwork.start()
    clockwork.processes.recover = Mock(return_value=found)
    clockwork.beat()
    clockwork.turn()
    assert len(clockwork.processes.launched) == (found is NEVER_RAN)
    attempt.instance.refresh_from_db()
    assert attempt.instance.status == status
    clockwork.beat()
    assert clockwork.processes.recover.call_count == 1


def test_what_is_in_the_way_is_said_once(settings, tmp_path, caplog):
    """Not each minute, for as long as a disk does not answer."""
    settings.DATA_DIR = tmp_path
    clockwork = Clockwork()
    in_flight(node=clockwork.node)
    full, broken = OSError(28, "No space left on device"), OSError(5, "Input/output error")
    for error in (full, broken):
        clockwork.processes.recover = Mock(side_effect=error)
        clockwork.beat() if error is broken else clockwork.start()
        clockwork.beat()
        assert clockwork.processes.recover.call_count > 1
    assert [error in caplog.text for error in (str(full), str(broken))] == [True, True]
    assert caplog.text.count("is left as it is") == 2


@pytest.fixture
def abandoned():
    """An attempt that counts as ended, with the thread of it that runs on."""
    attempt = in_flight("running")
    models.Instance.objects.filter(pk=attempt.instance_id).update(status="cancelled", token="", ended_at=NOW)
    ended = {"status": "ended", "outcome": "cancelled", "ended_at": NOW, "abandoned_at": NOW}
    models.Attempt.objects.filter(pk=attempt.pk).update(**ended)
    return attempt


def test_what_an_abandoned_thread_holds_is_held_again(abandoned):
    found = recovered(abandoned, AssertionError("asked"), abandoned={"t"})
    assert (found.launch, found.inputs, found.stop) == ([], [], [])


def test_abandonment_that_was_not_committed_is_told_again():
    attempt = in_flight("running")
    cancelled = Outcome(OutcomeKind.CANCELLED, NOW)
    found = recovered(attempt, NEVER_RAN, unsettled={"t": cancelled}, abandoned={"t"})
    assert found.inputs == [Abandoned(attempt.instance_id, "t", cancelled)]
