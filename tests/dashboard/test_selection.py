import pytest

from jobs import actions
from jobs.models import Instance, Job
from tests.dashboard.places import NAUGHTY, make_job

pytestmark = pytest.mark.django_db

HERE = "/jobs/?q=tag%3Aetl"


def send(visitor, do, *jobs, sure=True, **fields):
    given = {"do": do, "job": [job.pk for job in jobs], "next": HERE} | ({"sure": "yes"} if sure else {})
    return visitor.post("/jobs/selection/", given | fields)


def said(visitor):
    return [str(message) for message in visitor.get("/jobs/").context["messages"]]


@pytest.mark.parametrize("do", ["run", "pause", "resume"])
def test_it_is_asked_before_it_is_done(visitor, do):
    one, two = make_job(NAUGHTY), make_job("two")
    page = send(visitor, do, one, two, sure=False).content.decode()
    assert f"{do.capitalize()} 2 jobs?" in page
    assert "&lt;img" in page
    assert "<img" not in page
    assert page.count('name="job"') == 2
    assert not Instance.objects.exists()
    assert not Job.objects.filter(paused_at__isnull=False).exists()


def test_run_submits_each_once(visitor):
    jobs = [make_job("one"), make_job("two")]
    for _ in range(2):
        assert send(visitor, "run", *jobs, form_mark="same")["Location"] == HERE
    assert sorted(Instance.objects.values_list("job_id", "created_by")) == [(job.pk, "ann") for job in jobs]
    assert said(visitor) == ["Submitted 2 jobs."]


def test_pause_and_resume_say_what_was_so_already(visitor):
    one, two = make_job("one"), make_job("two")
    send(visitor, "pause", one)
    assert said(visitor) == ["Paused 1 job."]
    send(visitor, "pause", one, two)
    assert said(visitor) == ["Paused 1 job. 1 job was paused already."]
    send(visitor, "resume", one, two)
    assert said(visitor) == ["Resumed 2 jobs."]
    assert not Job.objects.filter(paused_at__isnull=False).exists()


def test_one_that_is_gone_stops_no_other(visitor):
    gone, there = make_job("gone"), make_job("there")
    pk = gone.pk
    actions.delete_job(pk, actor="bob", now=there.created_at)
    gone.pk = pk
    send(visitor, "pause", gone, there)
    assert said(visitor) == ["Paused 1 job.", f"There is no job {pk}; it may have been deleted."]


def test_nothing_selected_is_said(visitor):
    assert send(visitor, "run", sure=False)["Location"] == HERE
    assert said(visitor) == ["No job was selected; mark the jobs that you want to run."]


def test_odd_wishes_are_refused(visitor):
    assert send(visitor, "explode", make_job()).status_code == 400
    assert visitor.get("/jobs/selection/").status_code == 405
    there = send(visitor, "pause", make_job("b"), next="https://evil.example/")["Location"]
    assert there == "/jobs/"
