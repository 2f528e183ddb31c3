"""What the engine's thread does for those that wait for packages, with environments that a test answers for."""

from datetime import UTC, datetime

import pytest

from jobs import models
from jobs.core.decisions import Prepare, Unprepare
from jobs.core.inputs import Ended, Prepared
from jobs.core.records import Allocation
from jobs.core.states import OutcomeKind
from jobs.execution.declared import Declared
from jobs.execution.environments import Given
from jobs.execution.launch import Launch
from jobs.service.mailbox import Mailbox
from jobs.service.preparing import Preparing

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Answers:
    """In the place of `Environments`: nothing is answered but by `answer`."""

    def __init__(self):
        self.asked, self.given, self.used = {}, {}, []
        self.before = None

    def prepare(self, name, read, told, before=None, *, reads_file=False):
        self.asked[name] = (read, told)
        self.before = before

    def unprepare(self, name):
        self.asked.pop(name, None)
        self.given.pop(name, None)

    def unprepare_all(self, but):
        self.asked = {name: asked for name, asked in self.asked.items() if name in but}

    def take(self, name, token):
        return self.given.get(name)

    def give_back(self, token):
        self.used.append(token)

    def answer(self, name, given):
        self.given[name] = given
        self.asked[name][1]()


@pytest.fixture
def environments():
    return Answers()


@pytest.fixture
def launched():
    return []


@pytest.fixture
def preparing(environments, launched):
    return Preparing(environments, Mailbox(), launched.append)


def launch(declared=None, token="t1"):  # noqa: S107 - of an attempt
    return Launch(
        instance_id=7, job_id=1, job_name="job", attempt=1, token=token, kind="script", body="", declared=declared,
        allocation=Allocation((0,), 0, 0), logical_at=NOW,
    )  # fmt: skip


def told(preparing):
    return preparing._mailbox.take()[0]


@pytest.mark.django_db
def test_the_engine_is_told_when_it_is_there(preparing, environments):
    job = models.Job.objects.create(name="a", body="", requirements=["tiny"], created_at=NOW)
    key = Declared("", requirements=("tiny",)).read().key
    preparing.see_to([Prepare(key, job.pk)])
    assert environments.asked[key][0]().requirements == ("tiny",)
    environments.answer(key, Given("/there"))
    assert told(preparing) == [Prepared(key)]
    preparing.see_to([Unprepare(key)])
    assert environments.asked == {}


@pytest.mark.django_db
def test_a_job_that_was_edited_meanwhile_is_not_prepared(preparing, environments):
    job = models.Job.objects.create(name="a", body="", requirements=["tiny"], created_at=NOW)
    preparing.see_to([Prepare("another", job.pk), Prepare("gone", job.pk + 1)])
    assert environments.asked == {}


def test_what_needs_nothing_is_launched_as_it_is(preparing, launched):
    preparing.launch(launch())
    assert launched == [launch()]


def test_what_is_ready_is_launched_in_its_environment(preparing, environments, launched):
    environments.given["key"] = Given("/there", log=("built",))
    preparing.launch(launch(Declared("key")))
    (one,) = launched
    assert (one.interpreter, one.environment, one.preface) == ("/there/bin/python", "/there", ("built",))


def test_a_file_is_read_again_right_before_its_start(preparing, environments, launched):
    environments.given["key"] = Given("/old")
    preparing.launch(launch(Declared("key", path="/script.py")))
    assert launched == []
    environments.answer("attempt:t1", Given("/new"))
    assert [one.environment for one in launched] == ["/new"]
    assert environments.asked == {}


def test_what_failed_before_is_known_when_the_file_is_read_again(preparing, environments):
    environments.given["key"] = Given(error="no such package", key="k1")
    preparing.launch(launch(Declared("key", path="/script.py")))
    assert environments.before == environments.given["key"]


@pytest.mark.parametrize(("key", "log"), [("k1", ("built",)), ("k2", ())])
def test_build_for_a_file_is_in_its_first_log(preparing, environments, launched, key, log):
    """What was built when the file was read first was in no log; of another environment it says nothing."""
    environments.given["key"] = Given("/there", log=("built",), key="k1")
    preparing.launch(launch(Declared("key", path="/script.py")))
    environments.answer("attempt:t1", Given("/there", key=key))
    assert [one.preface for one in launched] == [log]


def test_what_is_cancelled_before_its_launch_ends_at_once(preparing, environments, launched):
    preparing.launch(launch(Declared("key")))
    assert preparing.cancel(launch().ref)
    (end,) = told(preparing)
    assert isinstance(end, Ended)
    assert end.outcome.kind is OutcomeKind.CANCELLED
    assert (environments.asked, launched) == ({}, [])
    assert not preparing.cancel(launch().ref)


def test_a_new_engine_asks_anew_and_launches_go_on(preparing, environments, launched):
    environments.prepare("key", None, None)
    preparing.launch(launch(Declared("other")))
    preparing.begin_anew()
    assert list(environments.asked) == ["attempt:t1"]
    environments.answer("attempt:t1", Given(error="no such package"))
    assert launched[0].environment_error == "no such package"
