import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.utils import timezone

from jobs.actions.bodies import MASK
from jobs.models import Dependency, Event, Instance, Job, Schedule
from tests.actions.places import HOURLY, make_instance, make_job
from tests.dashboard.places import hourly

pytestmark = pytest.mark.django_db
LIST, ADD = "/admin/jobs/job/", "/admin/jobs/job/add/"


def texts_of(response, **changes):
    """What a browser would send from the form in this answer."""
    form = response.context["adminform"].form
    values = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    sent = {name: "on" if value is True else value for name, value in values.items() if value not in (None, False)}
    return sent | changes


def save(client, address, **changes):
    return client.post(address, texts_of(client.get(address), **changes))


def act(client, action, *rows, **more):
    data = {"action": action, ACTION_CHECKBOX_NAME: [row.pk for row in rows]} | more
    return client.post(f"/admin/jobs/{rows[0]._meta.model_name}/", data, follow=True)


def change(client, *rows, **wish):
    """As the preview's button sends it."""
    return act(client, "change_jobs", *rows, step="apply", **wish)


def messages(response):
    return [str(message) for message in response.context["messages"]]


def test_job_is_made_with_its_schedule(admin_client):
    response = save(
        admin_client, ADD, name="nightly", script_content="print(1)\r\nprint(2)\r\n", schedule_type="daily",
        schedule_expression="10:00", timezone="Europe/Berlin", tags="etl, daily", environment="A=1", priority="3",
    )  # fmt: skip
    assert response.status_code == 302
    job = Job.objects.get()
    assert (job.body, job.tags, job.environment, job.priority) == (
        "print(1)\nprint(2)\n",
        ["etl", "daily"],
        {"A": "1"},
        3,
    )
    assert (job.schedule.expression, job.schedule.zone) == ("10:00", "Europe/Berlin")
    assert (job.created_by.username, job.max_retries, job.timeout_seconds) == ("admin", 0, None)


def test_saving_starts_nothing(admin_client):
    save(admin_client, ADD, name="x", command="true")
    assert Job.objects.exists()
    assert not Instance.objects.exists()


def test_refusals_are_shown_at_their_fields(admin_client):
    make_job("taken")
    response = save(admin_client, ADD, name="taken", command="true", cpu_cores_required="many", start_date="soon")
    assert response.status_code == 200
    assert set(response.context["adminform"].form.errors) == {"cpu_cores_required", "start_date"}
    response = save(admin_client, ADD, name="taken", command="true")
    assert "There is a job named" in response.context["adminform"].form.errors["name"][0]
    assert Job.objects.count() == 1


def test_form_that_is_saved_as_it_is_changes_nothing(admin_client):
    job = make_job(
        "all", now=timezone.now(), script_content="print(1)\n", command=None, environment={"A": "s3cr3t"}, tags=["a"],
        timeout_seconds=1.5, start_date="2030-01-01T10:00:00.5+02:00", end_date="2031-01-01", keep_workspace=False,
        retry_jitter=False, max_retries=7, priority=3, notify_email="a@b.org", timezone="Asia/Tokyo", **HOURLY,
    )  # fmt: skip
    assert save(admin_client, f"{LIST}{job.pk}/change/").status_code == 302
    assert Job.objects.get().revision == job.revision
    assert not Event.objects.filter(kind="job.changed").exists()


def test_edit_keeps_what_it_leaves_alone(admin_client):
    now = timezone.now()
    job = make_job(now=now, environment={"TOKEN": "s3cr3t"}, **hourly(now))
    page = admin_client.get(f"{LIST}{job.pk}/change/")
    assert "s3cr3t" not in page.content.decode()
    admin_client.post(f"{LIST}{job.pk}/change/", texts_of(page, timeout_seconds="", environment=f"TOKEN={MASK}\nB=2"))
    after = Job.objects.get()
    assert (after.environment, after.created_at) == ({"TOKEN": "s3cr3t", "B": "2"}, job.created_at)
    assert Schedule.objects.get().next_at == job.schedule.next_at


def test_edit_over_another_edit_is_refused(admin_client):
    job = make_job()
    page = admin_client.get(f"{LIST}{job.pk}/change/")
    save(admin_client, f"{LIST}{job.pk}/change/", description="first")
    response = admin_client.post(f"{LIST}{job.pk}/change/", texts_of(page, description="second"))
    assert "changed by somebody else" in str(response.context["adminform"].form.non_field_errors())
    assert Job.objects.get().description == "first"


def test_name_taken_in_the_same_moment_is_told(admin_client, monkeypatch):
    monkeypatch.setattr("jobs.admin.job_form.check_new_job", lambda *_, **__: None)
    make_job("taken")
    response = admin_client.post(ADD, texts_of(admin_client.get(ADD), name="taken", command="true"), follow=True)
    assert "There is a job named" in messages(response)[0]


def test_bulk_pause_and_resume_do_as_the_single_ones(admin_client):
    now = timezone.now()
    jobs = [make_job(f"job {n}", now=now, **hourly(now)) for n in range(2)]
    assert messages(change(admin_client, *jobs, state="pause")) == ["2 jobs paused."]
    assert messages(change(admin_client, *jobs, state="pause")) == ["0 jobs paused."]
    assert not Schedule.objects.filter(next_at__isnull=False).exists()
    assert messages(change(admin_client, *jobs, state="resume")) == ["2 jobs resumed."]
    assert Schedule.objects.filter(next_at__gt=timezone.now()).count() == 2
    assert not Instance.objects.exists()
    assert Event.objects.filter(kind="job.resumed", actor="admin").count() == 2


def test_run_now_submits_one_each(admin_client):
    jobs = [make_job(f"job {n}") for n in range(3)]
    assert messages(change(admin_client, *jobs, run_now="on")) == ["3 instances submitted."]
    assert Instance.objects.filter(status="queued", cause="manual", created_by="admin").count() == 3


def test_deletion_asks_and_then_deletes(admin_client):
    job, other = make_job("<b>bold</b>"), make_job("other")
    make_instance(job, "queued")
    page = act(admin_client, "delete_jobs", job, other)
    assert "&lt;b&gt;bold" in page.content.decode()
    assert "1 of their instances have not ended" in page.content.decode()
    told = messages(act(admin_client, "delete_jobs", job, other, confirmed="yes"))
    assert told[0] == "1 job deleted."
    assert "cancel first" in told[1]
    act(admin_client, "delete_jobs", job, confirmed="yes", cancel="yes")
    assert not Job.objects.exists()


def test_deletion_of_a_workflow_asks_who_else_waits(admin_client):
    a, b, c = (make_job(name) for name in "abc")
    Dependency.objects.create(job=b, upstream=a)
    Dependency.objects.create(job=c, upstream=b)
    assert "<bdi>c</bdi> wait for them" in act(admin_client, "delete_jobs", a, b).content.decode()
    told = messages(act(admin_client, "delete_jobs", a, b, confirmed="yes"))
    assert "c waits for b" in told[1]
    assert messages(act(admin_client, "delete_jobs", a, b, confirmed="yes", release="yes")) == ["2 jobs deleted."]
    assert list(Job.objects.values_list("name", flat=True)) == ["c"]


def test_a_whole_workflow_is_deleted(admin_client):
    a, b = make_job("a"), make_job("b")
    Dependency.objects.create(job=b, upstream=a)
    assert messages(act(admin_client, "delete_jobs", a, b, confirmed="yes")) == ["2 jobs deleted."]


def test_deletion_under_a_process_waits(admin_client):
    job = make_job()
    make_instance(job, "running")
    told = messages(act(admin_client, "delete_jobs", job, confirmed="yes", cancel="yes"))
    assert "it goes by itself after that" in told[0]
    assert Job.objects.get().being_deleted


def test_who_may_only_look_may_not_act(client, django_user_model):
    from django.contrib.auth.models import Permission

    viewer = django_user_model.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.set(Permission.objects.filter(codename__in=["view_job", "view_instance"]))
    client.force_login(viewer)
    job = make_job()
    change(client, job, run_now="on")
    act(client, "delete_jobs", job, confirmed="yes")
    assert client.post(f"{LIST}{job.pk}/change/", {"name": "other"}).status_code == 403
    assert Job.objects.get().name == job.name
    assert not Instance.objects.exists()
