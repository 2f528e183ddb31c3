import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from dashboard.forms import FIELDS
from dashboard.once import once
from jobs.models import Instance, Job
from tests.dashboard.places import NAUGHTY, make_node

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
    assert html.count("kept &lt;&amp;&gt; this") >= len(FIELDS) - 3
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
        gate.wait(10)
        return once(request, act).status_code

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(click, range(2))) == [204, 204]
    assert len(done) == 1


def test_preview_shows_fires_in_their_zone(visitor):
    fields = {"when": "daily", "schedule_expression": "02:30", "timezone": "Asia/Tokyo"}
    html = visitor.post("/jobs/preview/", fields).content.decode()
    assert html.count(", 02:30:00 +0900") == 10


def test_preview_says_what_is_wrong(visitor):
    response = visitor.post("/jobs/preview/", {"when": "cron", "schedule_expression": "<b>"})
    assert response.status_code == 422
    assert b"<b>" not in response.content


def test_errors_speak_the_words_of_the_form(visitor):
    [error] = field_errors(send(visitor, cpu_cores_required="many"))["cpu_cores_required"]
    assert error.startswith("Cores is")


def field_errors(response):
    return {field.name: field.errors for field in response.context["form"].faulty}
