from datetime import timedelta
from itertools import pairwise

import pytest
from django.utils import timezone

from dashboard import operations
from dashboard.acts import JOB, acts_on
from dashboard.models import BulkOperation
from dashboard.presentation.operation import read_operation
from jobs import actions
from jobs.models import Dependency, Event, Instance, Job
from jobs.service.deletions import finish_requested
from tests.dashboard.places import NAUGHTY, end, make_job, make_node, make_running, make_waiting

pytestmark = pytest.mark.django_db

HERE = "/jobs/?q=tag%3Aetl"


@pytest.fixture(autouse=True)
def started(monkeypatch):
    """Operations are worked through by the test, not by a thread."""
    begun = []
    monkeypatch.setattr(operations, "start", begun.append)
    return begun


def send(visitor, do, *jobs, sure=True, **fields):
    given = {"do": do, "job": [job.pk for job in jobs], "next": HERE} | ({"sure": "yes"} if sure else {})
    return visitor.post("/jobs/selection/", given | fields)


def send_all(visitor, do, text="", **fields):
    return send(visitor, do, **{"all": "yes", "q": text, "up_to": operations.newest_id(JOB)} | fields)


def said(visitor):
    return [str(message) for message in visitor.get("/jobs/").context["messages"]]


def finish(operation_id):
    operations.work(operation_id, clock=timezone.now, rest=lambda: None)
    return BulkOperation.objects.get(pk=operation_id)


@pytest.mark.parametrize("act", acts_on(JOB), ids=lambda act: act.key)
def test_it_is_asked_before_it_is_done(visitor, act):
    one, two = make_job(NAUGHTY), make_job("two")
    page = send(visitor, act.key, one, two, sure=False).content.decode()
    assert f"{act.word} 2 jobs?" in page
    assert "&lt;img" in page
    assert "<img" not in page
    assert page.count('name="job"') == 2
    assert not Event.objects.exists()
    assert not BulkOperation.objects.exists()


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


def test_tag_comes_and_goes(visitor):
    one, two = make_job("one", tags=["etl"]), make_job("two")
    send(visitor, "add-tag", one, two, tag=" etl ")
    assert said(visitor) == ["Tagged 1 job. 1 job was tagged so already."]
    send(visitor, "remove-tag", one, tag="etl")
    assert said(visitor) == ["Untagged 1 job."]
    assert list(Job.objects.order_by("pk").values_list("tags", flat=True)) == [[], ["etl"]]


def test_what_is_no_tag_is_asked_again(visitor):
    job = make_job()
    page = send(visitor, "add-tag", job, tag="a,b").content.decode()
    assert "without a comma" in page
    assert 'value="a,b"' in page
    assert Job.objects.get().tags == []


def test_known_tags_are_proposed(visitor):
    make_job("other", tags=["two words"])
    page = send(visitor, "add-tag", make_job(), sure=False).content.decode()
    assert '<option value="two words">' in page


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


def test_all_that_match_are_worked_through(visitor, started):
    etl = [make_job(f"etl {n}", tags=["etl"]) for n in range(operations.PORTION + 3)]
    other = make_job("other")
    there = send_all(visitor, "pause", "tag:etl")["Location"]
    assert finish(started[0]).done == len(etl)
    assert list(Job.objects.filter(paused_at=None)) == [other]
    page = visitor.get(there).content.decode()
    assert "53 of 53 paused." in page
    assert 'href="/jobs/?q=tag%3Aetl"' in page


def test_what_is_made_after_the_question_is_left_alone(visitor, started):
    asked = make_job("asked")
    page = send_all(visitor, "pause", sure="").content.decode()
    assert f'name="up_to" value="{asked.pk}"' in page
    later = make_job("later")
    send_all(visitor, "pause", up_to=asked.pk)
    finish(started[0])
    assert list(Job.objects.filter(paused_at=None)) == [later]


def test_search_that_says_nothing_acts_on_nothing(visitor, started):
    make_job()
    assert "None of them is there" in send_all(visitor, "delete", "is:blue", sure="").content.decode()
    assert send_all(visitor, "delete", "is:blue").status_code == 409
    assert started == []


def test_deletion_counts_those_that_have_not_ended(visitor):
    node, busy, waits = make_node(), make_job("busy"), make_job("waits")
    make_running(busy, node)
    make_waiting(busy)
    make_waiting(waits, "pending", due_at=timezone.now() + timedelta(hours=1))
    end(make_running(make_job("done"), node, (1,)))
    page = send_all(visitor, "delete", sure="").content.decode()
    assert "Delete 3 jobs?" in page
    assert "2 of them have instances that have not ended." in page


def test_operation_is_a_page_of_the_jobs(visitor, started):
    make_job("one")
    send_all(visitor, "pause")
    page = visitor.get(f"/instances/operations/{started[0]}/").content.decode()
    assert "<h1>Pause 1 job</h1>" in page
    assert 'data-go="j" aria-current="true"' in page


def test_deletion_takes_the_history_along(visitor, started):
    jobs = [make_job("one"), make_job("two")]
    end(make_running(jobs[0], make_node()))
    make_waiting(jobs[1])
    send(visitor, "delete", *jobs)
    operation = finish(started[0])
    assert (operation.done, operation.unchanged) == (2, 0)
    assert not Job.objects.exists()
    assert not Instance.objects.exists()
    assert Event.objects.filter(kind="job.deleted", actor="ann").count() == 2


def test_job_that_runs_is_stopped_and_kept_until_then(visitor, started):
    """bug-072."""
    running = make_running(make_job("busy"), make_node())
    send(visitor, "delete", running.job, make_job("idle"))
    operation = finish(started[0])
    assert (operation.done, operation.refusal) == (2, "")
    assert Job.objects.get().being_deleted
    running.refresh_from_db()
    assert (running.status, running.cancel_requested_by) == ("running", "ann")
    end(running, "cancelled")
    assert finish_requested() == 1
    assert not Job.objects.exists()


def chain(*names):
    jobs = [make_job(name) for name in names]
    for upstream, job in pairwise(jobs):
        Dependency.objects.create(job=job, upstream=upstream)
    return jobs


def test_workflow_that_is_chosen_as_a_whole_goes(visitor, started):
    send(visitor, "delete", *chain("a", "b", "c"))
    operation = finish(started[0])
    assert (operation.done, operation.refusal) == (3, "")
    assert not Job.objects.exists()


def test_all_that_match_go_together(visitor, started):
    chain("a", "b")
    send_all(visitor, "delete")
    assert finish(started[0]).done == 2


def test_job_that_others_wait_for_stays_and_says_who(visitor, started):
    a, b, _ = chain("a", "b", "c")
    page = send(visitor, "delete", a, b, sure=False).content.decode()
    assert "What waits for them is not chosen: <bdi>c</bdi>." in page
    send(visitor, "delete", a, b)
    operation = finish(started[0])
    assert (operation.done, operation.unchanged) == (0, 2)
    assert "c waits for b; delete that together with it" in operation.refusal


def test_interrupted_deletion_goes_on(visitor, started):
    jobs = [make_job(f"job {n}") for n in range(3)]
    send(visitor, "delete", *jobs)
    operation = BulkOperation.objects.get()
    actions.delete_job(jobs[0].pk, actor="ann", now=timezone.now())  # done, and then the process died
    assert operations._one(operation, operation.ids[0], timezone.now())
    assert finish(operation.pk).done == 2
    assert not Job.objects.exists()


@pytest.mark.usefixtures("each_database")
def test_operations_on_jobs_work_on_each_database():
    job, node = make_job(tags=["etl"]), make_node()
    end(make_running(job, node))
    for act in ("run", "pause", "resume", "add-tag", "remove-tag", "delete"):
        begun = operations.begin_on_jobs(
            act, actor="ann", now=timezone.now(), text="tag:etl", up_to=job.pk, detail="new"
        )
        assert finish(begun.pk).done == 1
    assert not Job.objects.exists()


def test_tag_of_an_operation_is_text(visitor, started):
    make_job()
    there = send_all(visitor, "add-tag", tag="<b>&")["Location"]
    finish(started[0])
    page = visitor.get(there).content.decode()
    assert "Add tag \N{LEFT DOUBLE QUOTATION MARK}&lt;b&gt;&amp;\N{RIGHT DOUBLE QUOTATION MARK} to 1 job" in page
    row = read_operation(started[0], timezone.now())["operation"][0][1]
    assert row.look.word == "done"
