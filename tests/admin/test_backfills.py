import pytest

from jobs.actions import create_backfill
from jobs.models import Backfill
from tests.actions.places import HOURLY, NOW, later, make_job
from tests.admin.test_jobs import act, messages

pytestmark = pytest.mark.django_db


def test_backfills_are_seen_and_cancelled(admin_client):
    backfill = create_backfill(make_job("a", **HOURLY).pk, later(hours=-3), NOW, actor="ada", now=NOW)
    page = admin_client.get(f"/admin/jobs/backfill/{backfill.pk}/change/")
    assert "0 of 3 dates done" in page.content.decode()
    assert messages(act(admin_client, "cancel", backfill)) == ["1 backfill cancelled."]
    assert Backfill.objects.get().status == "cancelled"
    assert messages(act(admin_client, "cancel", backfill)) == ["0 backfills cancelled."]
