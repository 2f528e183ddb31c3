import pytest
from django.utils import timezone

from jobs import actions
from jobs.actions.bodies import MASK
from jobs.models import Instance, Job, Schedule
from jobs.store.schedules import spec_of
from tests.dashboard.places import NAUGHTY, make_job, make_node

pytestmark = pytest.mark.django_db

SCRIPT = "\n\tprint('a')\r  \n\n# \N{ROCKET} end  \n\n"


def make(**fields):
    raw = {"name": "report", "command": "date", "environment": {"KEY": "s3cret"}, "schedule_type": "daily"}
    raw |= {"schedule_expression": "02:30", "timezone": "Europe/Berlin", "timeout_seconds": 1234567.125}
    made = actions.create_job(raw | fields, actor="ann", now=timezone.now(), start=False)
    return Job.objects.select_related("schedule").get(pk=made.job_id)


def shown(visitor, job):
    """What a browser would send if nothing were typed: lines of a text area end with CR LF."""
    form = visitor.get(f"/jobs/{job.pk}/edit/").context["form"]
    texts = {name: field.value for name, field in form.fields.items()}
    as_sent = {
        name: "\r\n".join(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")) for name, text in texts.items()
    }
    return as_sent | {"revision": form.revision, "seen": form.seen}


def save(visitor, job, **fields):
    return visitor.post(f"/jobs/{job.pk}/edit/", shown(visitor, job) | fields)


def row(job):
    return Job.objects.filter(pk=job.pk).values().get()


def test_saving_nothing_changes_nothing(visitor):
    job = make(priority="high", tags=["a", "b"], description="one\ntwo", memory_mb_required=1)
    before = row(job)
    assert save(visitor, job)["Location"] == f"/jobs/{job.pk}/"
    assert row(job) == before


def test_script_is_kept_to_the_letter(visitor):
    job = make_job(body=SCRIPT)
    save(visitor, job, description="new")
    job.refresh_from_db()
    assert (job.body, job.description) == (SCRIPT, "new")


def test_first_blank_line_of_a_script_is_shown(visitor):
    page = visitor.get(f"/jobs/{make_job(body=SCRIPT).pk}/edit/").content.decode()
    assert ">\n\n\tprint(" in page


def test_each_field_can_be_changed(visitor):
    job = make()
    make_node(cores=4)
    new = {
        "name": "other",
        "description": "d",
        "cpu_cores_required": "2",
        "memory_mb_required": "64",
        "max_retries": "2",
    }
    new |= {"timeout_seconds": "9", "retry_delay_seconds": "5", "priority": "critical", "tags": "x, y"}
    save(
        visitor,
        job,
        runs="script_content",
        script_content="print(2)\r\n",
        when="cron",
        schedule_expression="0 3 * * *",
        **new,
    )
    job = Job.objects.select_related("schedule").get()
    assert (job.name, job.kind, job.body, job.cores, job.memory_mb) == ("other", "script", "print(2)\n", 2, 64)
    assert (job.max_retries, job.timeout_seconds, job.retry_delay_seconds) == (2, 9, 5)
    assert (job.get_priority_display(), job.tags, job.schedule.expression) == ("critical", ["x", "y"], "0 3 * * *")


def test_saving_starts_nothing(visitor):
    job = make()
    save(visitor, job, when="interval", schedule_expression="5m")
    save(visitor, job, when="by_hand")
    assert not Instance.objects.exists()
    assert spec_of(Schedule.objects.get()) is None


def test_dated_job_can_be_made_one_by_hand(visitor):
    job = make(schedule_type="once", schedule_expression=None, start_date="2099-01-01 08:00")
    save(visitor, job, when="by_hand")
    assert spec_of(Schedule.objects.get()) is None


def test_once_without_a_moment_is_refused(visitor):
    job = make()
    response = save(visitor, job, when="at", start_date=" ")
    assert response.status_code == 422
    assert [field.name for field in response.context["form"].faulty] == ["start_date"]
    assert Job.objects.get().schedule.type == "daily"


def test_secrets_are_masked_and_kept(visitor):
    job = make()
    assert b"s3cret" not in visitor.get(f"/jobs/{job.pk}/edit/").content
    save(visitor, job, environment=f"KEY={MASK}\r\nMORE=1")
    assert Job.objects.get().environment == {"KEY": "s3cret", "MORE": "1"}
    save(visitor, job, environment="")
    assert Job.objects.get().environment == {}


def test_edit_of_another_is_not_undone(visitor):
    job = make()
    mine = shown(visitor, job) | {"description": "mine"}
    actions.change_job(job.pk, {"command": "theirs <b>"}, actor="bob", now=timezone.now())
    response = visitor.post(f"/jobs/{job.pk}/edit/", mine)
    assert response.status_code == 409
    page = response.content.decode()
    assert "the job was changed by <bdi>bob</bdi> <time" in page
    assert ">\nmine</textarea>" in page
    assert ">\ntheirs &lt;b&gt;</textarea>" in page
    assert [(clash.label, clash.both) for clash in response.context["clashes"]] == [("Command", False)]
    assert (Job.objects.get().body, Job.objects.get().description) == ("theirs <b>", "")


def test_merged_form_saves_both_edits(visitor):
    job = make()
    mine = shown(visitor, job) | {"description": "mine", "tags": "my"}
    actions.change_job(job.pk, {"command": "theirs", "tags": ["their"]}, actor="bob", now=timezone.now())
    form = visitor.post(f"/jobs/{job.pk}/edit/", mine).context["form"]
    again = {name: field.value for name, field in form.fields.items()} | {"revision": form.revision, "seen": form.seen}
    assert visitor.post(f"/jobs/{job.pk}/edit/", again).status_code == 302
    stored = Job.objects.get()
    assert (stored.body, stored.description, stored.tags) == ("theirs", "mine", ["my"])


def test_what_both_changed_is_shown_beside_mine(visitor):
    job = make()
    mine = shown(visitor, job) | {"description": "mine"}
    actions.change_job(job.pk, {"description": "theirs"}, actor="bob", now=timezone.now())
    context = visitor.post(f"/jobs/{job.pk}/edit/", mine).context
    [clash] = context["clashes"]
    assert context["open_folds"] == ["about"]
    assert (clash.label, clash.theirs, clash.both) == ("Description", "theirs", True)


def test_resume_elsewhere_does_not_stop_a_save(visitor):
    job = make()
    mine = shown(visitor, job) | {"description": "mine"}
    actions.pause_job(job.pk, actor="bob", now=timezone.now())
    actions.resume_job(job.pk, actor="bob", now=timezone.now())
    assert visitor.post(f"/jobs/{job.pk}/edit/", mine).status_code == 302
    assert Job.objects.get().description == "mine"


def test_deleted_job_gives_back_what_was_typed(visitor):
    job = make()
    mine = shown(visitor, job) | {"description": "mine <b>"}
    actions.delete_job(job.pk, actor="bob", now=timezone.now())
    response = visitor.post(f"/jobs/{job.pk}/edit/", mine)
    page = response.content.decode()
    assert response.status_code == 404
    assert "was deleted meanwhile" in page
    assert "mine &lt;b&gt;" in page
    assert 'action="/jobs/new/"' in page


def test_retries_of_a_type_are_not_taken_along(visitor):
    job = make(schedule_type="once", schedule_expression=None)
    assert (job.max_retries, shown(visitor, job)["max_retries"]) == (3, "")
    save(visitor, job, when="interval", schedule_expression="5m")
    assert Job.objects.get().max_retries == 0


def test_edit_is_tried_without_touching_the_job(visitor):
    job = make()
    before = row(job)
    visitor.post("/jobs/try/", shown(visitor, job) | {"job": job.pk, "command": "false"})
    assert row(job) == before
    copy = Job.objects.get(name="report (test)")
    assert (copy.body, copy.environment) == ("false", {"KEY": "s3cret"})
    assert not hasattr(copy, "schedule")


def test_past_moment_of_an_edit_is_said_clearly(visitor):
    response = save(visitor, make(), when="at", start_date="2020-01-01 08:00")
    [field] = response.context["form"].faulty
    assert field.errors[0].startswith("2020-01-01 08:00 has passed; give a moment to come, or choose")


def test_form_without_its_revision_is_refused(visitor):
    job = make()
    assert save(visitor, job, revision="x", seen="", description="new").status_code == 409
    assert Job.objects.get().description == ""


def test_refused_edit_keeps_what_was_typed(visitor):
    job = make()
    response = save(visitor, job, cpu_cores_required="many", description="kept <&>")
    assert response.status_code == 422
    assert [field.name for field in response.context["form"].faulty] == ["cpu_cores_required"]
    assert b"kept &lt;&amp;&gt;" in response.content
    assert save(visitor, job, runs="script_path").status_code == 422


def test_naughty_texts_are_shown_as_they_are(visitor):
    job = make(name=NAUGHTY, command=NAUGHTY, tags=[NAUGHTY])
    page = visitor.get(f"/jobs/{job.pk}/edit/").content.decode()
    assert "<img" not in page
    assert "Edit <bdi>&lt;img" in page


def test_missing_job_has_no_form(visitor):
    assert visitor.get("/jobs/77/edit/").status_code == 404
    assert visitor.post("/jobs/77/edit/", {"revision": "1"}).status_code == 404
    assert visitor.post("/jobs/try/", {"job": "77"}).status_code == 404


def test_job_page_leads_to_its_form(visitor):
    job = make()
    assert f'href="/jobs/{job.pk}/edit/"' in visitor.get(f"/jobs/{job.pk}/").content.decode()
