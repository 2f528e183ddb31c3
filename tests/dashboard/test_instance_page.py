"""The page of an instance: its attempts, what they used, how they were run, why it waited."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.live.places import path_of
from jobs.actions import delete_job
from jobs.execution import moment
from jobs.execution.rundir import SPEC, RunDir
from jobs.execution.samples import Sample, SampleFile
from jobs.execution.spec import Spec
from jobs.models import Attempt
from tests.dashboard.outputs import printed
from tests.dashboard.places import end, make_job, make_node, make_running, make_waiting, tell

pytestmark = pytest.mark.django_db


@pytest.fixture
def running():
    return make_running(make_job("<b>sync</b>"), make_node())


def html(visitor, instance, **query):
    return visitor.get(f"/instances/{instance.pk}/", query).content.decode()


def run_directory(instance, number=1, **fields):
    token = instance.attempts.get(number=number).token
    path = path_of(instance.pk, number, token)
    path.mkdir(parents=True, exist_ok=True)
    given = {"kind": "command", "body": "echo '<i>hi</i>'", "interpreter": "python", "env": {}} | fields
    spec = Spec(token, instance.pk, number, asked_at=moment.now(), **given)
    with RunDir(str(path)) as rundir:
        rundir.write_json(SPEC, spec.to_json())
    return path


def sampled(instance, count=3):
    with RunDir(str(run_directory(instance))) as rundir:
        file = SampleFile(rundir)
        for second in range(1, count + 1):
            file.add(Sample(float(second), 0.5, second * 2**20))


def second_attempt(instance, **fields):
    first = instance.attempts.get()
    Attempt.objects.filter(pk=first.pk).update(
        status="ended", outcome="failed", ended_at=timezone.now(), error="exited with code 3", exit_code=3
    )
    given = {"token": "second000", "status": "running", "node": first.node, "cores": [1], "created_at": timezone.now()}
    return Attempt.objects.create(instance=instance, number=2, **(given | fields))


def test_card_says_whether_it_started_warm(visitor, running):
    (run_directory(running) / "started.json").write_text('{"start": "cold", "note": "it runs as <another> user"}')
    assert "it runs as &lt;another&gt; user" in html(visitor, running)


def test_card_says_user_and_limits_where_it_has_them(visitor, running):
    run_directory(running, run_as="nobody", io_priority="idle", max_processes=900, max_file_bytes=5 * 2**20)
    shown = html(visitor, running)
    for said in ("<dd>nobody", "<dd>idle", "<dd>900", "<dd>5.0 MB"):
        assert said in shown


def test_job_that_is_nice_with_cores_of_its_own_shares_none(visitor, running):
    run_directory(running, nice=10)
    shown = html(visitor, running)
    assert ("<dd>10" in shown, "gives way to those" in shown) == (True, False)


def test_card_says_how_it_was_run(visitor, running):
    run_directory(running, env={"B": "2", "A": "1 <script>"}, timeout_seconds=90)
    shown = html(visitor, running)
    assert "-c &#x27;echo" in shown
    assert "<i>hi</i>" not in shown
    assert "1 &lt;script&gt;" in shown
    assert "1 min 30 s" in shown
    assert shown.index("<bdi>A</bdi>") < shown.index("<bdi>B</bdi>")


@pytest.mark.parametrize(
    "name", ["API_TOKEN", "my_secret", "DB_PASSWORD", "AWS_KEY_ID", "PGPASSWD", "db_pass", "BASIC_AUTH"]
)
def test_secret_names_are_masked(visitor, running, name):
    run_directory(running, env={name: "hunter2"})
    shown = html(visitor, running)
    assert f"<bdi>{name}</bdi>" in shown
    assert "hunter2" not in shown


def test_password_in_an_address_is_masked(visitor, running):
    run_directory(running, env={"URL": "postgres://ann:hunter2@db/x"})
    shown = html(visitor, running)
    assert "postgres://ann:********@db/x" in shown
    assert "hunter2" not in shown


def test_bytes_that_are_no_text_are_shown_in_escapes(visitor, running):
    run_directory(running, env={"ODD": "\udcff"})
    assert "\\udcff" in html(visitor, running)


def test_run_directory_that_is_gone_is_said_to_be(visitor, running):
    assert "Its run directory is not there any more" in html(visitor, end(running))


@pytest.mark.parametrize("content", ["x", "[]", "{}", '{"format": 1, "token": 7}', '{"format": 9}'])
def test_run_directory_that_a_job_spoilt_is_said_to_be(visitor, running, content):
    (run_directory(running) / SPEC).write_text(content)
    assert "How it was run cannot be read" in html(visitor, running)


def test_curves_come_with_words_and_a_table(visitor, running):
    sampled(running)
    answer = visitor.get(f"/instances/{running.pk}/samples/").json()
    assert (answer["seconds"], answer["cores"]) == ([1, 2, 3], [0.5, 0.5, 0.5])
    assert answer["summary"] == "Used 0.50 cores on average, 0.50 at most; 3.0 MB of memory at most."
    assert answer["table"][0] == ["1.0 s", "0.50", "1.0 MB"]
    assert answer["summary"] in html(visitor, running)


def test_table_of_a_long_run_is_short(visitor, running):
    sampled(running, 400)
    answer = visitor.get(f"/instances/{running.pk}/samples/").json()
    assert len(answer["seconds"]) == 400
    assert len(answer["table"]) <= 12
    assert answer["table"][-1][2] == "400.0 MB"


def test_average_of_an_ended_run_is_the_kernels(visitor, running):
    sampled(running)
    end(running, cpu_seconds=3.0, duration_seconds=4.0, peak_memory_bytes=9 * 2**20)
    summary = visitor.get(f"/instances/{running.pk}/samples/").json()["summary"]
    assert summary == "Used 0.75 cores on average, 0.50 at most; 9.0 MB of memory at most."


def test_what_shares_a_process_is_not_called_too_short(visitor):
    job = make_job("fetch", kind="callable", body="shop.jobs.fetch", execution_model="async", cores=0)
    fetching = make_running(job, make_node())
    summary = visitor.get(f"/instances/{fetching.pk}/samples/").json()["summary"]
    assert summary == "It shares its process with others, so it is not measured alone."


def test_what_never_started_is_not_called_too_short(visitor, running):
    end(running, started_at=None)
    assert visitor.get(f"/instances/{running.pk}/samples/").json()["summary"] == "It never started."


def test_run_of_less_than_a_second_has_no_average(visitor, running):
    """0.3 s of a start of Python in 0.05 s made "5.83 cores on average"."""
    sampled(running, 0)
    end(running, cpu_seconds=0.3, duration_seconds=0.05, peak_memory_bytes=9 * 2**20)
    summary = visitor.get(f"/instances/{running.pk}/samples/").json()["summary"]
    assert summary == "Its cores: too short to measure. Used 9.0 MB of memory at most."
    assert "cores: too short to measure" in html(visitor, running)


def test_nothing_is_measured_before_the_first_attempt(visitor):
    waiting = make_waiting(make_job())
    assert visitor.get(f"/instances/{waiting.pk}/samples/").json() == {"attempt": 0}


def test_each_attempt_has_its_own_facts_and_conditions(visitor, running):
    second_attempt(running)
    run_directory(running, 1, body="echo first")
    run_directory(running, 2, body="echo second")
    first, latest = html(visitor, running, attempt=1), html(visitor, running)
    assert 'data-region="facts:1"' in first
    assert f'data-topics="attempt:{running.pk}.1 instance:{running.pk} site"' in first
    assert "echo first" in first
    assert "echo second" not in first
    assert "Exit code" in first
    assert "echo second" in latest
    assert "Exit code" not in latest
    assert latest.count('role="tab"') == 2


def test_attempt_that_does_not_exist_is_not_found(visitor, running):
    assert visitor.get(f"/instances/{running.pk}/?attempt=7").status_code == 404


def test_wait_is_told_reason_by_reason(visitor):
    instance = make_waiting(make_job())
    start = timezone.now() - timedelta(minutes=5)
    tell("instance.queued", instance, "", "queued", at=start)
    held = {"code": "cores", "subject": {}}, {"code": "behind", "subject": {"instance": 812}}
    tell("instance.held", instance, "queued", "queued", at=start + timedelta(seconds=10), data=held[0])
    tell("instance.held", instance, "queued", "queued", at=start + timedelta(seconds=30), data=held[1])
    tell("instance.started", instance, "queued", "running", at=start + timedelta(seconds=90), data={"cores": [1]})
    shown = " ".join(html(visitor, instance).split())
    assert "Waited for free cores <span>20 s</span>" in shown
    assert "Cores were kept for a bigger one ahead of it, #812 <span>1 min</span>" in shown


def test_timeout_does_not_say_that_processes_were_left_behind(visitor, running):
    end(running, "timeout", error="ran longer than its time limit of 2 s and was ended", descendants_ended=2)
    shown = html(visitor, running)
    assert "Timed out: it ran longer than its time limit of 2 s and was ended." in shown
    assert "The 2 processes that it had started were ended with it." in shown
    assert "left behind" not in shown


def test_lost_attempt_is_called_lost(visitor, running):
    error = "was lost: its runner was killed before it could record the end"
    end(running, "failed", error=error)
    running.attempts.update(outcome="lost")
    assert "Lost: its runner was killed before it could record the end." in html(visitor, running)


def test_buttons_say_what_they_will_do(visitor, running):
    assert "Cancel tells all its processes to end, and kills after 10 s" in html(visitor, running)
    assert "Cancel takes it out of the queue" in html(visitor, make_waiting(make_job("other")))
    assert "it will not be tried again" in html(visitor, make_waiting(make_job("third"), "retrying"))
    shown = html(visitor, end(running))
    assert f'formaction="/jobs/{running.job_id}/run/"' in shown
    assert "Run again: a new instance of the job, as it is defined now." in shown


def test_deleted_instance_is_told_to_a_page_that_shows_it(visitor, running):
    ended = end(running)
    delete_job(ended.job_id, actor="ann", now=timezone.now())
    answer = visitor.get("/live/rows/", {"topic": f"instance:{ended.pk}"}).json()
    assert "does not exist" in json.dumps(answer["frames"])


def test_failure_shows_what_it_printed_last(visitor, running):
    printed(path_of(running.pk, 1, running.attempts.get().token), b"reading\nValueError: <row> 7\n")
    end(running, "failed", error="exited with code 1")
    shown = html(visitor, running)
    assert "Failed: it exited with code 1." in shown
    assert '<p class="verdict-last" title="The last line that it printed"><bdi>ValueError: &lt;row&gt; 7</bdi>' in shown


def test_cancelled_one_shows_no_last_line(visitor, running):
    printed(path_of(running.pk, 1, running.attempts.get().token), b"reading\n")
    assert "verdict-last" not in html(visitor, end(running, "cancelled"))


@pytest.mark.parametrize("topic", ["attempt:1", "attempt:1.", "attempt:1.x", "attempt:.1", "attempt:1.2.3"])
def test_topic_that_names_no_attempt_is_refused(visitor, topic):
    assert visitor.get("/live/rows/", {"topic": topic}).status_code == 400


def test_no_message_outlives_the_stopping(visitor, running):
    """The page itself says that it is being stopped, for as long as it is."""
    page = visitor.post(f"/instances/{running.pk}/cancel/", follow=True)
    assert "Being stopped" in page.content.decode()
    assert not list(page.context["messages"])
    page = visitor.post(f"/instances/{running.pk}/cancel/", {"next": "/"}, follow=True)
    assert [str(message) for message in page.context["messages"]] == [f"Instance {running.pk} was told to stop."]


def test_what_never_started_has_no_log_to_search(visitor):
    skipped = make_waiting(make_job(), "skipped", ended_at=timezone.now())
    waiting = make_waiting(make_job("other"))
    assert "log-card never" in html(visitor, skipped)
    assert html(visitor, skipped).count("It never started.") == 2
    assert "log-card never" not in html(visitor, waiting)
