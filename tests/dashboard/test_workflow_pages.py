"""The pages of workflows and backfills."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from dashboard.presentation.rows import Gone
from dashboard.topics import UnknownTopicError, parts_of, workflow_topic
from dashboard.views.pages import regions_of
from jobs.models import Backfill, Instance, Job, Schedule
from tests.actions.places import HOURLY, make_instance, make_job

pytestmark = pytest.mark.django_db


@pytest.fixture
def abc():
    return make_job("a", **HOURLY), make_job("b", depends_on=["a"]), make_job("c & co", depends_on=["b"])


def text(response) -> str:
    return response.content.decode()


def test_job_page_names_neighbours_and_offers_both_runs(visitor, abc):
    page = text(visitor.get(f"/jobs/{abc[1].pk}/"))
    assert "waits for this" in page
    assert "c &amp; co" in page
    assert "Run workflow" in page
    assert "Run only this" in page
    assert "After other jobs." in page


def test_job_alone_is_just_run(visitor):
    page = text(visitor.get(f"/jobs/{make_job('x').pk}/"))
    assert "Run now" in page
    assert "Run workflow" not in page


def test_both_runs_do_what_they_say(visitor, abc):
    visitor.post(f"/jobs/{abc[1].pk}/run/only/")
    assert Instance.objects.count() == 1
    response = visitor.post(f"/jobs/{abc[1].pk}/run/workflow/")
    assert Instance.objects.filter(cause="workflow").count() == 3
    assert response["Location"] == f"/instances/{Instance.objects.filter(job=abc[1]).latest('pk').pk}/"


def test_instance_page_shows_its_date_and_the_first_cause(visitor, abc):
    first = make_instance(abc[0], "failed")
    below = [make_instance(job, "upstream_failed", blame=first) for job in abc[1:]]
    page = text(visitor.get(f"/instances/{below[1].pk}/"))
    assert "Workflow on this date" in page
    assert f'First to fail was <a href="/instances/{first.pk}/">' in page
    visitor.post(f"/instances/{first.pk}/retry-from-here/")
    assert Instance.objects.filter(generation=1).count() == 3


def test_grid_goes_page_by_page(visitor, abc):
    now = timezone.now()
    for n in range(35):
        make_instance(abc[0], "success", logical_at=now - timedelta(hours=n))
    page = visitor.get(f"/workflows/{abc[2].pk}/")
    assert text(page).count('scope="row"') == 30
    older = page.context["regions"]["grid-pages"][0][1].older
    assert text(visitor.get(f"/workflows/{abc[2].pk}/", {"before": older})).count('scope="row"') == 5
    assert visitor.get("/workflows/999/").status_code == 404
    assert visitor.get(f"/workflows/{abc[0].pk}/?before=x").status_code == 404


def test_backfill_is_counted_before_it_is_started(visitor, abc):
    address, window = f"/jobs/{abc[0].pk}/backfill/", {"first": "2026-05-01", "last": "2026-05-01", "concurrency": "2"}
    counted = visitor.post(address, window | {"only_missing": "on", "count": "1"})
    assert "The window holds 24 dates" in text(counted)
    assert not Backfill.objects.exists()
    visitor.post(address, window | {"only_missing": "on", "start": "1"})
    backfill = Backfill.objects.get()
    assert (backfill.concurrency, backfill.only_missing, backfill.created_by) == (2, True, "ann")
    assert "0 of 24 dates done" in text(visitor.get(address))
    visitor.post(f"/backfills/{backfill.pk}/cancel/")
    assert Backfill.objects.get().status == "cancelled"


@pytest.mark.parametrize("window", [{"first": "x", "last": "y"}, {"first": "2026-05-02", "last": "2026-05-01"}])
def test_windows_that_cannot_be_are_refused(visitor, abc, window):
    response = visitor.post(f"/jobs/{abc[0].pk}/backfill/", window | {"count": "1"})
    assert response.status_code == 422
    assert "Nothing was stored." in text(response)


def test_deleting_names_who_waits_and_lets_them_go(visitor, abc):
    address = f"/jobs/{abc[1].pk}/delete/"
    assert "c &amp; co" in text(visitor.get(address))
    visitor.post(address)
    assert set(Job.objects.values_list("name", flat=True)) == {"a", "c & co"}


def test_workflow_is_run_for_a_date(visitor, abc):
    visitor.post(f"/jobs/{abc[0].pk}/run/workflow/", {"logical_at": "2026-05-01 02:00"})
    assert set(Instance.objects.values_list("logical_at", flat=True)) == {datetime(2026, 5, 1, 2, tzinfo=UTC)}
    visitor.post(f"/jobs/{abc[0].pk}/run/workflow/", {"logical_at": " "})
    assert Instance.objects.filter(logical_at__gt=timezone.now() - timedelta(minutes=5)).count() == 3


def test_date_that_is_none_is_refused(visitor, abc):
    response = visitor.post(f"/jobs/{abc[0].pk}/run/workflow/", {"logical_at": "soon"})
    assert (response.status_code, Instance.objects.count()) == (409, 0)
    assert "expected 2026-05-31" in text(response)


def test_form_proposes_the_latest_date_that_is_missing(visitor, abc):
    address, now = f"/workflows/{abc[1].pk}/", timezone.now()
    latest = (now - timedelta(minutes=30)).replace(second=0, microsecond=0)
    Schedule.objects.update(anchor_at=now, expression=f"{latest.minute} * * * *")
    assert 'value=""' in text(visitor.get(address)).split('id="f-logical_at"')[1][:200]  # none since it was made
    Schedule.objects.update(anchor_at=now - timedelta(hours=3))
    missing = latest.isoformat()
    assert f'value="{missing}"' in text(visitor.get(address))
    visitor.post(f"/jobs/{abc[1].pk}/run/workflow/", {"logical_at": missing})
    assert f'value="{missing}"' not in text(visitor.get(address)).split("<table")[0]


def test_empty_square_runs_its_job_for_its_date(visitor, abc):
    first = make_instance(abc[0], "success", logical_at=timezone.now())
    page = text(visitor.get(f"/workflows/{abc[0].pk}/"))
    assert page.count(f'value="{first.logical_at.isoformat()}"') == 2
    visitor.post(f"/jobs/{abc[1].pk}/run/only/", {"logical_at": first.logical_at.isoformat()})
    assert Instance.objects.get(job=abc[1]).logical_at == first.logical_at


def test_marked_form_does_each_of_its_wishes_once(visitor, abc):
    address, marked = f"/jobs/{abc[1].pk}/run/only/", {"form_mark": "m"}
    for day in ("2026-05-01", "2026-05-01", "2026-05-02"):
        visitor.post(address, marked | {"logical_at": day})
    assert Instance.objects.count() == 2


def test_grid_and_backfills_go_live(visitor, abc):
    now = timezone.now()
    make_instance(abc[0], "success", logical_at=now)
    assert [key for key, _ in regions_of(workflow_topic(abc[1].pk, None), now)["grid"]] == [now.isoformat()]
    assert not regions_of(workflow_topic(abc[1].pk, now), now)["grid"]
    window = {"first": "2026-05-01", "last": "2026-05-01", "concurrency": "2", "start": "1"}
    visitor.post(f"/jobs/{abc[0].pk}/backfill/", window)
    page = visitor.get(f"/jobs/{abc[0].pk}/backfill/")
    assert f"backfills:{abc[0].pk}" in page.context["live"]["topics"]
    [part] = parts_of(f"backfills:{abc[0].pk}")
    assert part.ages(part.read(now))
    Backfill.objects.update(status="done")
    assert not part.ages(part.read(now))


@pytest.mark.parametrize("topic", ["workflow:9.0", "backfills:9"])
def test_page_of_a_job_that_went_says_so(topic, db):
    with pytest.raises(Gone):
        regions_of(topic, timezone.now())


@pytest.mark.parametrize("topic", ["workflow:9", "workflow:9.x", "workflow:9." + "9" * 18, "backfills:", "limits:1"])
def test_odd_topics_are_refused(topic):
    with pytest.raises(UnknownTopicError):
        parts_of(topic)
