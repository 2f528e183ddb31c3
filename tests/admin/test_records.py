import re
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.actions import pause_job
from jobs.admin.filters import EVENT_KINDS
from jobs.api.tokens import make_token
from jobs.models import ApiToken, Attempt, Event, Instance, Node
from tests.actions.places import HOURLY, NOW, make_instance, make_job
from tests.admin.test_jobs import act, messages

pytestmark = pytest.mark.django_db
MODELS = ("job", "schedule", "instance", "attempt", "event", "node", "apitoken")
TEXTS = (
    "name",
    "script_content",
    "timezone",
    "tags",
    "tenant",
    "add_tags",
    "remove_tags",
    "holidays",
    "blackouts",
    "label",
)


@pytest.fixture
def rows(admin_user):
    """One of each, with a name that looks like code."""
    job = make_job("<script>alert(1)</script>{{7*7}}", now=NOW, **HOURLY)
    instance = make_instance(job, "running")
    attempt = Attempt.objects.create(
        instance=instance, number=1, token="t", status="running", node=instance.node, created_at=NOW, cores=[0]
    )
    make_token(admin_user, label="ci", now=timezone.now())
    return {
        "job": job, "schedule": job.schedule, "instance": instance, "attempt": attempt, "event": Event.objects.first(),
        "node": Node.objects.get(), "apitoken": ApiToken.objects.get(),
    }  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("query", ["", "?q=1", "?q=abc", "?q=%00", "?q=99999999999999999999999"])
def test_every_list_opens_and_is_searched(admin_client, rows, model, query):
    page = admin_client.get(f"/admin/jobs/{model}/{query}")
    assert page.status_code == 200
    assert b"<script>alert" not in page.content


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("job/?tag=etl", ["tagged"]), ("job/?tag=other", []), ("job/?q=tagged", ["tagged"]),
        ("job/?paused_at__isempty=0", ["plain"]), ("schedule/?zone=Asia/Tokyo", ["cron 0 * * * *"]),
        ("event/?kind=job.paused&q=ada", ["event"]), ("node/?q=alph", ["alpha"]),
        ("instance/?status__exact=running", ["instance"]), ("instance/?q=tagg", ["instance"]),
    ],
)  # fmt: skip
def test_lists_are_filtered_and_searched(admin_client, address, names):
    tagged = make_job("tagged", tags=["etl"], now=NOW, timezone="Asia/Tokyo", **HOURLY)
    pause_job(make_job("plain").pk, actor="ada", now=NOW)
    make_instance(tagged, "running")
    found = admin_client.get(f"/admin/jobs/{address}").context["cl"].result_list
    assert len(found) == len(names)
    assert all(str(row).startswith(name) for row, name in zip(found, names, strict=True))


@pytest.mark.parametrize("model", MODELS)
def test_every_row_opens(admin_client, rows, model):
    page = admin_client.get(f"/admin/jobs/{model}/{rows[model].pk}/change/")
    assert page.status_code == 200
    assert b"<script>alert" not in page.content


@pytest.mark.parametrize("model", ["schedule", "instance", "attempt", "event", "node"])
def test_what_the_engine_writes_is_only_looked_at(admin_client, rows, model):
    row = rows[model]
    assert admin_client.get(f"/admin/jobs/{model}/add/").status_code == 403
    assert admin_client.post(f"/admin/jobs/{model}/{row.pk}/change/", {"status": "success"}).status_code == 403
    assert admin_client.post(f"/admin/jobs/{model}/{row.pk}/delete/", {"post": "yes"}).status_code == 403
    act(admin_client, "delete_selected", row, post="yes")
    assert type(row).objects.filter(pk=row.pk).exists()


def test_instances_are_cancelled_in_bulk(admin_client):
    job = make_job()
    rows = [make_instance(job, status) for status in ("queued", "running", "success")]
    assert messages(act(admin_client, "cancel", *rows, step="apply")) == ["2 instances cancelled or being stopped."]
    assert list(Instance.objects.order_by("pk").values_list("status", flat=True)) == ["cancelled", "running", "success"]


def test_instances_are_retried_in_bulk(admin_client):
    job = make_job()
    rows = [make_instance(job, status) for status in ("failed", "running")]
    told = messages(act(admin_client, "retry", *rows, step="apply"))
    assert told[0] == "1 instance retried."
    assert "is running" in told[1]
    assert Instance.objects.filter(retry_of=rows[0]).count() == 1


def test_token_is_revoked_and_never_shown(admin_client, rows):
    token = rows["apitoken"]
    page = admin_client.get(f"/admin/jobs/apitoken/{token.pk}/change/")
    assert token.digest not in page.content.decode()
    admin_client.post(f"/admin/jobs/apitoken/{token.pk}/delete/", {"post": "yes"})
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("model", ["job", "schedule", "instance", "attempt", "event"])
def test_lists_cost_a_fixed_number_of_queries(admin_client, rows, model, django_assert_max_num_queries):
    for n in range(30):
        job = make_job(f"job {n}", schedule_type="daily", schedule_expression="10:00")
        instance = make_instance(job, "success", node=rows["node"])
        Attempt.objects.create(
            instance=instance, number=1, token=f"t{n}", status="ended", outcome="success", node=rows["node"],
            created_at=NOW, ended_at=NOW,
        )  # fmt: skip
    with django_assert_max_num_queries(10):
        assert admin_client.get(f"/admin/jobs/{model}/").status_code == 200


def test_hostile_texts_are_shown_as_they_are(admin_client):
    """bug-010: in the list, the form, the pages before bulk actions, and the messages after them."""
    text = "<img src=x onerror=document.title=1>'\"&{{7*7}}${7*7}"
    job = make_job(text, description=text, tags=[text[:40]], environment={"A": text}, now=NOW, **HOURLY)
    make_instance(job, "failed", error=text)
    wish = {"add_tags": text[:30], "state": "pause", "step": "preview"}
    pages = [
        admin_client.get("/admin/jobs/job/"),
        admin_client.get(f"/admin/jobs/job/{job.pk}/change/"),
        admin_client.get("/admin/jobs/schedule/"),
        admin_client.get("/admin/jobs/instance/"),
        act(admin_client, "change_jobs", job, **wish),
        act(admin_client, "delete_jobs", job),
        act(admin_client, "change_jobs", job, **wish | {"step": "apply", "add_tags": f"{text}{'x' * 50}"}),
        act(admin_client, "delete_jobs", job, confirmed="yes"),
    ]
    shown = [page.content.decode() for page in pages]
    assert not any("<img src=x" in page for page in shown)
    assert all("{{7*7}}${7*7}" in page for page in shown[:6])
    assert "&lt;img src=x" in shown[0]


def test_nodes_are_drained_and_undrained(admin_client, rows):
    node = rows["node"]
    page = act(admin_client, "drain", node)
    assert messages(page) == ["1 node starts nothing new from now on."]
    node.refresh_from_db()
    assert (node.drained_at is not None, node.drained_by) == (True, "admin")
    act(admin_client, "undrain", node)
    node.refresh_from_db()
    assert node.drained_at is None


def test_ended_instances_are_deleted_in_bulk(admin_client):
    job = make_job()
    rows = [make_instance(job, status) for status in ("failed", "running", "success")]
    page = act(admin_client, "delete_ended", *rows)
    assert [bool(row.changes) for row in page.context["rows"]] == [True, False, True]
    assert Instance.objects.count() == 3
    told = messages(act(admin_client, "delete_ended", *rows, step="apply"))
    assert told[0] == "2 instances deleted."
    assert "has not ended" in told[1]
    assert list(Instance.objects.values_list("status", flat=True)) == ["running"]
    assert Event.objects.filter(kind="instance.deleted", actor="admin").count() == 2


@pytest.mark.usefixtures("each_database")
def test_instances_are_found_by_number_name_and_error(client, django_user_model):
    client.force_login(django_user_model.objects.create_superuser("ada"))
    first, second = make_job("merge orders"), make_job("report")
    rows = [
        make_instance(first, "failed", error="no route"),
        make_instance(second, "failed", error="no orders"),
        make_instance(second, "success"),
    ]
    expected = {
        "orders": rows[:2], "ORDERS no": rows[:2], "merge route": rows[:1], str(rows[2].pk): rows[2:], "nothing": [],
        "100%": [], "\0": rows,
    }  # fmt: skip
    for text, found in expected.items():
        shown = client.get("/admin/jobs/instance/", {"q": text}).context["cl"].result_list
        assert sorted(one.pk for one in shown) == [one.pk for one in found]


def test_search_of_instances_joins_no_jobs_to_find_them(admin_client):
    make_instance(make_job(), "failed", error="no route")
    with CaptureQueriesContext(connection) as captured:
        admin_client.get("/admin/jobs/instance/?q=route")
    counts = [one["sql"] for one in captured if "COUNT" in one["sql"] and "jobs_instance" in one["sql"]]
    assert counts
    assert not any("JOIN" in sql for sql in counts)


@pytest.mark.parametrize("model", ["job", "schedule", "instance", "attempt", "event", "node"])
def test_moments_of_lists_do_not_break(admin_client, rows, model):
    page = admin_client.get(f"/admin/jobs/{model}/").content.decode()
    assert page.count("admin/lists.css") == 1
    assert "p.m." not in page or model == "node"


def test_filter_offers_every_kind_of_event():
    rows = (Path(__file__).parents[2] / "docs" / "events.md").read_text().partition("| kind |")[2]
    kinds = re.findall(r"`([a-z]+\.[a-z_]+)`", "".join(row.split("|")[1] for row in rows.splitlines() if "|" in row))
    assert sorted(kinds) == sorted(EVENT_KINDS)


@pytest.mark.usefixtures("postgres_database")  # the one that raises
def test_what_no_column_holds_is_refused_everywhere(client, django_user_model):
    client.force_login(django_user_model.objects.create_superuser("ada"))
    job = make_job(**HOURLY)
    for model in MODELS:
        assert client.get(f"/admin/jobs/{model}/", {"q": "\0"}).status_code == 200
        assert client.get(f"/admin/jobs/{model}/", {"status": "\0", "tag": "\0"}).status_code in (200, 302)
        assert client.post(f"/admin/jobs/{model}/add/", dict.fromkeys(TEXTS, "a\0")).status_code in (200, 403)
    assert client.post(f"/admin/jobs/job/{job.pk}/change/", dict.fromkeys(TEXTS, "a\0")).status_code == 200
    assert act(client, "change_jobs", job, step="preview", **dict.fromkeys(TEXTS, "a\0")).context["form"].errors
