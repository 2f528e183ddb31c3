import pytest

from jobs import actions
from jobs.models import Event, Job
from tests.actions.places import NOW, make_job

pytestmark = pytest.mark.django_db


def test_tag_comes_beside_the_others():
    job = make_job(tags=["a"])
    assert actions.add_tag(job.pk, "b", actor="ann", now=NOW).changed == ("tags",)
    assert Job.objects.get().tags == ["a", "b"]
    assert Event.objects.get(kind="job.changed").actor == "ann"


def test_tag_that_is_there_changes_nothing():
    job = make_job(tags=["a"])
    assert not actions.add_tag(job.pk, "a", actor="ann", now=NOW).changed
    assert not actions.remove_tag(job.pk, "b", actor="ann", now=NOW).changed
    assert not Event.objects.filter(kind="job.changed").exists()


def test_tag_goes_and_the_others_stay():
    job = make_job(tags=["a", "b", "c"])
    actions.remove_tag(job.pk, "b", actor="ann", now=NOW)
    assert Job.objects.get().tags == ["a", "c"]


def test_one_too_many_is_refused():
    job = make_job(tags=[f"t{n}" for n in range(50)])
    with pytest.raises(actions.InvalidInput):
        actions.add_tag(job.pk, "more", actor="ann", now=NOW)


@pytest.mark.parametrize("tag", ["", " ", "a,b", "x" * 51, "a\nb", "\N{RIGHT-TO-LEFT OVERRIDE}a"])
def test_what_is_no_tag_is_said(tag):
    with pytest.raises(actions.InvalidInput, match="A tag has 1 to 50"):
        actions.check_tag(tag)


def test_tag_of_a_job_that_is_gone():
    with pytest.raises(actions.NotFound):
        actions.add_tag(7, "a", actor="ann", now=NOW)
