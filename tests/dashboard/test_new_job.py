import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import RequestFactory

from dashboard.formfields import FIELDS
from dashboard.once import once
from jobs.execution.environment import PATH
from jobs.models import Instance, Job
from tests.dashboard.places import NAUGHTY, make_node
from tests.waiting import DEADLINE_SECONDS

pytestmark = pytest.mark.django_db

THREE = {"runs": "script_content", "script_content": "print(1)\r\nprint(2)", "name": "hello", "when": "now"}


def send(visitor, **fields):
    return visitor.post("/jobs/new/", THREE | fields)


def test_three_fields_are_enough(visitor):
    response = send(visitor)
    assert response["Location"] == f"/instances/{Instance.objects.get().pk}/"
    assert Job.objects.get().body == "print(1)\nprint(2)"


def test_command_with_a_schedule_leads_to_its_job(visitor):
    response = send(visitor, runs="command", command="date", when="interval", schedule_expression="5m")
    job = Job.objects.get()
    assert response["Location"] == f"/jobs/{job.pk}/"
    assert (job.kind, job.body, job.schedule.expression) == ("command", "date", "5m")
    assert not Instance.objects.exists()


def test_by_hand_starts_nothing(visitor):
    send(visitor, when="by_hand")
    assert Job.objects.count() == 1
    assert not Instance.objects.exists()


def test_once_later_keeps_its_moment(visitor):
    send(visitor, when="at", start_date="2099-01-01 08:00", timezone="Europe/Berlin")
    assert Job.objects.get().schedule.start_at.isoformat() == "2099-01-01T07:00:00+00:00"


def test_needs_are_stored(visitor):
    make_node(cores=8)
    send(visitor, cpu_cores_required="2", memory_mb_required="256", timeout_seconds="1.5", max_retries="4", tags="a, b")
    job = Job.objects.get()
    assert (job.cores, job.memory_mb, job.timeout_seconds, job.max_retries, job.tags) == (2, 256, 1.5, 4, ["a", "b"])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("script_content", ""),
        ("cpu_cores_required", "many"),
        ("cpu_cores_required", "0"),
        ("cpu_cores_required", "9999"),
        ("memory_mb_required", "-1"),
        ("timeout_seconds", "soon"),
        ("max_retries", "1.5"),
        ("environment", "9=x"),
    ],
)
def test_bad_field_has_its_error_beside_it(visitor, field, value):
    response = send(visitor, **{field: value})
    assert response.status_code == 422
    assert f'name="{field}"' in response.content.decode()
    assert list(field_errors(response)) == [field]
    assert not Job.objects.exists()


def test_bad_schedule_has_its_error_beside_it(visitor):
    response = send(visitor, when="cron", schedule_expression="61 * * * *")
    assert "schedule_expression" in field_errors(response)


def test_input_is_never_lost(visitor):
    given = dict.fromkeys(FIELDS, "kept <&> this") | {"runs": "command", "when": "weekly", "priority": "high"}
    html = visitor.post("/jobs/new/", given).content.decode()
    assert html.count("kept &lt;&amp;&gt; this") >= len(FIELDS) - 5  # but what is chosen among a few
    assert 'value="weekly" checked' in html
    assert "<option selected>high</option>" in html


def test_taken_name_is_said_beside_it(visitor):
    send(visitor)
    assert "already" in field_errors(send(visitor))["name"][0]


def test_naughty_name_is_taken_as_it_is(visitor):
    there = send(visitor, name=NAUGHTY)["Location"]
    assert Job.objects.get().name == NAUGHTY
    assert b"<img" not in visitor.get(there).content


def test_form_that_is_sent_twice_makes_one_job(visitor):
    answers = [send(visitor, form_mark="one")["Location"] for _ in range(2)]
    assert answers[0] == answers[1]
    assert Job.objects.count() == 1


def test_refused_form_can_be_sent_again(visitor):
    assert send(visitor, form_mark="two", name="").status_code == 422
    assert send(visitor, form_mark="two").status_code == 302


def test_two_clicks_at_once_are_done_once():
    class User:
        pk = 1

    done, gate = [], threading.Barrier(2)

    def act():
        done.append(1)
        return HttpResponse(status=204)

    def click(_):
        request = RequestFactory().post("/", {"form_mark": "both"})
        request.user = User()
        gate.wait(DEADLINE_SECONDS)
        return once(request, act).status_code

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(click, range(2))) == [204, 204]
    assert len(done) == 1


def test_preview_shows_fires_in_their_zone(visitor):
    fields = {"when": "daily", "schedule_expression": "02:30", "timezone": "Asia/Tokyo"}
    html = visitor.post("/jobs/preview/", fields).content.decode()
    assert html.count(", 02:30:00 +0900") == 10


def test_preview_says_what_is_wrong(visitor):
    page = visitor.post("/jobs/preview/", {"when": "cron", "schedule_expression": "<b>", "timezone": "Mars"}).content
    assert b"six with seconds" in page
    assert b"no time zone" in page
    assert b"<b>" not in page


def test_errors_speak_the_words_of_the_form(visitor):
    [error] = field_errors(send(visitor, cpu_cores_required="many"))["cpu_cores_required"]
    assert error.startswith("Cores is")


@pytest.mark.parametrize(("field", "said"), [("command", "Command is blank"), ("script_path", "Path of the script is")])
def test_blank_body_is_said_where_it_is_seen(visitor, field, said):
    [(name, [sentence])] = field_errors(send(visitor, runs=field, **{field: " "})).items()
    assert name == field
    assert sentence.startswith(said)


def test_all_that_is_wrong_is_said_at_once(visitor):
    wrong = {
        "when": "cron",
        "schedule_expression": "61 * * * *",
        "timezone": "Mars/Phobos",
        "name": "",
        "tags": "x" * 51,
    }
    wrong |= {"notify_email": "nobody", "notify_webhook": "ftp://x", "keep_workspace": "perhaps"}
    errors = field_errors(send(visitor, **wrong))
    assert set(errors) == {"name", "tags", "notify_email", "notify_webhook", "keep_workspace", "schedule_expression",
                           "timezone"}  # fmt: skip
    assert not [text for texts in errors.values() for text in texts if "_" in text]


def test_fold_with_an_error_is_open(visitor):
    assert send(visitor, notify_email="nobody").context["open_folds"] == ["wrong"]
    assert visitor.get("/jobs/new/").context["open_folds"] == []


def test_past_moment_is_said_as_it_was_typed(visitor):
    [sentence] = field_errors(send(visitor, when="at", start_date="2020-01-01 08:00"))["start_date"]
    assert sentence == '2020-01-01 08:00 has passed; give a moment to come, or choose "Now".'


def test_once_without_a_moment_does_not_run_now(visitor):
    assert "start_date" in field_errors(send(visitor, when="at", start_date=" "))
    assert not Instance.objects.exists()


def test_all_that_is_blank_is_said_in_one_round(visitor):
    """Only the blank start was; the rest came when that was mended."""
    errors = field_errors(send(visitor, when="at", start_date="", name="", script_content=""))
    assert set(errors) == {"start_date", "name", "script_content"}
    assert errors["start_date"] == ('Start is blank, expected a date or a moment; give one, or choose "Now".',)


def test_number_is_refused_as_it_was_typed(visitor):
    [sentence] = field_errors(send(visitor, timeout_seconds="-3"))["timeout_seconds"]
    assert sentence.startswith("Time limit in seconds is -3, expected")


def test_tag_too_long_is_named(visitor):
    [sentence] = field_errors(send(visitor, tags=f"ok, {'x' * 60}"))["tags"]
    assert sentence.startswith(f'Tags: "{"x" * 60}" has 60 characters')


def test_what_goes_wrong_is_stored(visitor):
    send(visitor, retry_delay_seconds="5", retry_max_delay_seconds="50", retry_jitter="no", kill_grace_seconds="2.5",
         keep_workspace="yes", notify_email="a@b.example", notify_webhook="https://x.example/h")  # fmt: skip
    job = Job.objects.get()
    assert (job.retry_delay_seconds, job.retry_max_delay_seconds, job.retry_jitter) == (5, 50, False)
    assert (job.kill_grace_seconds, job.keep_workspace) == (2.5, True)
    assert (job.notify_email, job.notify_webhook) == ("a@b.example", "https://x.example/h")


def test_what_is_kept_is_stored(visitor):
    assert 'placeholder="90"' in visitor.get("/jobs/new/").content.decode()
    send(visitor, keep_days="0", keep_failed_days="400", keep_instances="50")
    job = Job.objects.get()
    assert (job.keep_days, job.keep_failed_days, job.keep_instances) == (0, 400, 50)
    page = visitor.get(f"/jobs/{job.pk}/edit/").content.decode()
    assert 'name="keep_failed_days" type="text" inputmode="numeric" value="400"' in page


@pytest.mark.parametrize(("field", "given"), [("keep_days", "-1"), ("keep_failed_days", "x"), ("keep_instances", "0")])
def test_what_cannot_be_kept_is_refused_in_its_fold(visitor, field, given):
    response = send(visitor, **{field: given})
    [(name, [sentence])] = field_errors(response).items()
    assert (name, response.context["open_folds"]) == (field, ["kept"])
    assert "expected a whole number from" in sentence


def test_script_can_come_from_a_file(visitor):
    file = SimpleUploadedFile("night.py", "\ufeffprint('\N{ROCKET}')\r\n".encode())
    send(visitor, script_content="", script_file=file)
    assert Job.objects.get().body == "print('\N{ROCKET}')\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"a = 1\nb = '\xff'", "x.py is not UTF-8 text (byte 0xFF in line 2)"), (b"x" * 4_000_001, "4,000,001 bytes"),
     (b"x" * 1_000_001, "longer than 1,000,000 characters"), (b"a\0b", "U+0000"), (b"", "Script is blank")],
)  # fmt: skip
def test_bad_file_is_refused_and_nothing_lost(visitor, content, said):
    response = send(visitor, script_file=SimpleUploadedFile("x.py", content), description="kept")
    [sentence] = field_errors(response)["script_content"]
    assert said in sentence
    assert response.context["field"]["description"].value == "kept"
    assert not Job.objects.exists()


def test_environment_is_foreseen_as_the_runner_makes_it(visitor, settings):
    make_node(cores=4)
    (settings.DATA_DIR / "environment").write_text("LANG=de_DE.UTF-8\nPROXY=http://u:s3cret@proxy:8080\n")
    given = {
        "environment": "API_KEY=s3cret\nMODE=<b>",
        "cpu_cores_required": "3",
        "memory_mb_required": "64",
        "name": "n",
    }
    page = visitor.post("/jobs/preview/environment/", given).content.decode()
    for shown in (
        "OMP_NUM_THREADS",
        "<bdi>3</bdi>",
        "de_DE.UTF-8",
        "MODE",
        "&lt;b&gt;",
        "<bdi>64</bdi>",
        "atlas",
        PATH,
    ):
        assert shown in page
    assert "s3cret" not in page
    assert "http://u:********@proxy:8080" in page


def test_node_is_foreseen_only_if_there_is_one(visitor):
    make_node("atlas")
    assert visitor.get("/jobs/new/").context["foreseen"].node == "atlas"
    make_node("titan")
    found = visitor.get("/jobs/new/").context["foreseen"]
    assert found.node == ""
    assert [variable.value for variable in found.variables if variable.name == "ROTA_NODE"] == [None]


def test_broken_environment_file_is_told_before_a_run(visitor, settings):
    (settings.DATA_DIR / "environment").write_text("what is this")
    assert "No job can start" in visitor.get("/jobs/new/").content.decode()


def test_size_that_is_being_typed_breaks_nothing(visitor):
    for given in ("", "many", "-3", "9" * 30, "1.5"):
        assert visitor.post("/jobs/preview/environment/", {"cpu_cores_required": given}).status_code == 200


def test_test_run_saves_nothing_else(visitor):
    there = visitor.post("/jobs/try/", THREE | {"when": "cron", "schedule_expression": "0 3 * * *"})["Location"]
    assert there == f"/instances/{Instance.objects.get().pk}/"
    assert list(Job.objects.values_list("name", flat=True)) == ["hello (test)"]


def test_test_run_in_place_shows_how_it_stands(visitor):
    make_node()
    answer = visitor.post("/jobs/try/", THREE, headers={"X-In-Place": "1"}, follow=True)
    page = answer.content.decode()
    assert "data-again=" in page
    assert f'href="/instances/{Instance.objects.get().pk}/"' in page
    again = visitor.post("/jobs/try/", THREE, headers={"X-In-Place": "1"})
    assert "has not ended" in again.content.decode()


def test_bad_test_run_says_why_in_place(visitor):
    page = visitor.post("/jobs/try/", THREE | {"cpu_cores_required": "many"}, headers={"X-In-Place": "1"})
    assert "Cores is" in page.content.decode()
    assert visitor.post("/jobs/try/", THREE | {"name": "x" * 300}).status_code == 422
    assert not Job.objects.exists()


def field_errors(response):
    return {field.name: field.errors for field in response.context["form"].faulty}
