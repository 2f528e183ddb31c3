"""Callables in the form of a job, on its page and in the search."""

import pytest
from django.utils import timezone

from dashboard.jobsearch import JobQuery
from dashboard.presentation.job_list import read_jobs
from jobs import actions
from jobs.callables import discovery, registry
from jobs.models import Instance, Job
from tests.dashboard.places import make_job

pytestmark = pytest.mark.django_db


def made(which: str, **fields: object) -> Job:
    raw = {"name": "it", "callable": which, **fields}
    return Job.objects.get(pk=actions.create_job(raw, actor="ann", now=timezone.now()).job_id)


def page(visitor, address: str) -> str:
    return visitor.get(address).content.decode()


def edited(visitor, job: Job, **typed: str):
    form = visitor.get(f"/jobs/{job.pk}/edit/").context["form"]
    posted = {name: field.value for name, field in form.fields.items()}
    return visitor.post(f"/jobs/{job.pk}/edit/", {**posted, "revision": form.revision, "seen": form.seen, **typed})


def test_the_form_offers_each_with_what_it_says(visitor, callables):
    html = page(visitor, "/jobs/new/")
    assert (
        f'<option value="{callables["process"]}" data-least-cores="1">in_process · process · Say it.</option>' in html
    )
    assert f'<option value="{callables["async"]}" data-least-cores="0" data-shared>' in html
    assert "And no more." in html
    assert "On the event loop of the node" in html


def test_the_form_says_which_app_is_broken(visitor, callables, monkeypatch):
    monkeypatch.setattr(discovery, "_failures", {"shop": "The jobs.py of the app shop cannot be imported: <why>."})
    assert "app shop cannot be imported: &lt;why&gt;." in page(visitor, "/jobs/new/")


def test_without_any_the_form_says_how(visitor, monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    assert "There is none yet: put <code>@job</code>" in page(visitor, "/jobs/new/")


def test_a_chosen_one_becomes_a_job_and_runs(visitor, callables):
    fields = {
        "runs": "callable",
        "callable": callables["async"],
        "cpu_cores_required": "0",
        "name": "wait",
        "when": "now",
    }
    answer = visitor.post("/jobs/new/", fields)
    instance = Instance.objects.select_related("job").get()
    assert answer.status_code == 302
    assert (instance.job.kind, instance.job.execution_model, instance.job.cores) == ("callable", "async", 0)


def test_none_chosen_is_said_beside_the_picker(visitor, callables):
    answer = visitor.post("/jobs/new/", {"runs": "callable", "callable": "", "name": "wait", "when": "now"})
    assert answer.status_code == 422
    assert "No callable is chosen; choose one." in answer.content.decode()


def test_an_edit_to_a_shared_one_takes_nothing_of_a_process_along(visitor, callables):
    job = make_job("it", environment={"A": "1"}, umask="077", memory_mb=100)
    form = visitor.get(f"/jobs/{job.pk}/edit/").context["form"]
    kept = ("name", "when", "timezone", "priority", "retry_jitter", "upstream_rule", "cpu_cores_required")
    posted = {name: form.fields[name].value for name in kept}
    posted |= {"runs": "callable", "callable": callables["async"], "revision": form.revision, "seen": form.seen}
    assert visitor.post(f"/jobs/{job.pk}/edit/", posted).status_code == 302
    job.refresh_from_db()
    assert (job.kind, job.umask, job.memory_mb, job.environment) == ("callable", "022", 0, {})


def test_what_was_not_asked_stays_after_a_refusal(visitor, callables):
    job = make_job("it", environment={"A": "1"})
    form = visitor.get(f"/jobs/{job.pk}/edit/").context["form"]
    posted = {"runs": "callable", "callable": "", "name": "it", "revision": form.revision, "seen": form.seen}
    answer = visitor.post(f"/jobs/{job.pk}/edit/", posted)
    assert answer.status_code == 422
    assert answer.context["form"].fields["environment"].value == form.fields["environment"].value != ""


def test_one_that_is_gone_is_said_and_kept(visitor, callables, monkeypatch):
    job = made(callables["async"])
    monkeypatch.setattr(registry, "_registered", {})
    html = page(visitor, f"/jobs/{job.pk}/edit/")
    assert f'<option value="{job.body}" selected>{job.body} (gone)</option>' in html
    assert "Each instance fails: there is no callable" in page(visitor, f"/jobs/{job.pk}/")
    assert edited(visitor, job, description="old").status_code == 302
    job.refresh_from_db()
    assert (job.description, job.body) == ("old", callables["async"])


def test_pages_tell_kind_and_model(visitor, callables):
    job = made(callables["thread"])
    html = page(visitor, f"/jobs/{job.pk}/")
    assert "Python callable, thread" in html
    assert callables["thread"] in html
    instance = page(visitor, f"/instances/{Instance.objects.get().pk}/")
    assert "Python callable" in instance
    assert "no core" in instance


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("kind:callable", {"async", "pooled"}),
        ("kind:async", {"async"}),
        ("kind:process", {"pooled"}),
        ("kind:script", {"script", "file"}),
        ("kind:COMMAND", {"command"}),
    ],
)
def test_the_search_knows_kind_and_model(callables, text, found):
    for name in ("async", "pooled"):
        made(callables[name], name=name)
    make_job("script", kind="script")
    make_job("file", kind="script_path")
    make_job("command", kind="command")
    assert {row.name for _, row in read_jobs(JobQuery(text), timezone.now())["jobs"]} == found


def test_its_parameters_are_fields_of_the_form(visitor, callables):
    html = visitor.post("/jobs/preview/parameters/", {"callable": callables["async"]}).content.decode()
    assert 'name="parameter:retries" type="number" value="3"' in html
    assert 'name="parameter:day"' in html
    assert not visitor.post("/jobs/preview/parameters/", {"callable": "gone"}).content.strip().startswith(b"<input")


def test_what_is_typed_into_them_is_stored_but_no_default(visitor, callables):
    fields = {"runs": "callable", "callable": callables["async"], "name": "wait", "when": "now", "priority": "medium"}
    visitor.post("/jobs/new/", fields | {"parameter:day": "today", "parameter:retries": "7"})
    assert Job.objects.get().parameter_values == {"retries": 7}


def test_what_does_not_fit_is_said_beside_its_field(visitor, callables):
    fields = {"runs": "callable", "callable": callables["async"], "name": "wait", "when": "now", "priority": "medium"}
    answer = visitor.post("/jobs/new/", fields | {"parameter:day": "x", "parameter:retries": "many"})
    shown = {one.name: one for one in answer.context["callable_fields"]}
    assert answer.status_code == 422
    assert (shown["retries"].value, shown["day"].value) == ("many", "x")
    assert shown["retries"].errors
    assert not shown["day"].errors


def test_an_edit_that_does_not_ask_them_keeps_the_values(visitor, callables):
    job = made(callables["async"], parameter_values={"retries": 7})
    assert edited(visitor, job, description="other").status_code == 302
    job.refresh_from_db()
    assert (job.description, job.parameter_values) == ("other", {"retries": 7})
    assert edited(visitor, job, **{"parameter:retries": "8"}).status_code == 302
    job.refresh_from_db()
    assert job.parameter_values == {"retries": 8}
