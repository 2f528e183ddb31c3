"""Secrets in admin, and what admin's form of a job says about them."""

import pytest

from jobs.models import Event, Job, Secret, SecretGrant
from jobs.store import vault
from tests.actions.places import make_job
from tests.admin.test_jobs import ADD, act, messages, save

pytestmark = pytest.mark.django_db
SECRETS = "/admin/jobs/secret/"
VALUE = "s3cr3t-value-123"


@pytest.fixture(autouse=True)
def own_data_folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path


def make(admin_client, name="stripe"):
    assert save(admin_client, f"{SECRETS}add/", name=name, value=VALUE).status_code == 302
    return Secret.objects.get(name=name)


def test_secret_is_made_and_replaced_by_the_actions(admin_client):
    secret = make(admin_client)
    assert vault.decrypt(secret) == VALUE
    save(admin_client, f"{SECRETS}{secret.pk}/change/", value="", description="of the shop")
    save(admin_client, f"{SECRETS}{secret.pk}/change/", value="another-value", description="of the shop")
    secret.refresh_from_db()
    assert (vault.decrypt(secret), secret.description) == ("another-value", "of the shop")
    assert [event.data["what"] for event in Event.objects.order_by("pk")] == ["created", "changed", "changed"]


def test_no_page_of_admin_has_a_value(admin_client):
    secret = make(admin_client)
    pages = [SECRETS, f"{SECRETS}{secret.pk}/change/", f"{SECRETS}{secret.pk}/history/", "/admin/"]
    assert not any(VALUE in admin_client.get(page, follow=True).content.decode() for page in pages)


def test_refused_secret_says_why(admin_client):
    response = admin_client.post(f"{SECRETS}add/", {"name": "a b", "value": "abc"}, follow=True)
    assert any("fewer than 6 characters" in sentence for sentence in messages(response))
    assert not Secret.objects.exists()


def test_secrets_are_deleted_unless_jobs_have_them(admin_client):
    free, used = make(admin_client, "free"), make(admin_client, "used")
    make_job("caller", secrets=["used"])
    said = messages(act(admin_client, "delete_secrets", free, used))
    assert "Secret free is deleted." in said
    assert any("caller" in sentence for sentence in said)
    assert list(Secret.objects.all()) == [used]


def test_job_is_made_and_changed_with_its_secrets(admin_client):
    make(admin_client)
    save(admin_client, ADD, name="given", command="true", secrets="KEY=stripe (file)")
    grant = SecretGrant.objects.get()
    assert (grant.variable, grant.as_file) == ("KEY", True)
    edit = f"/admin/jobs/job/{Job.objects.get().pk}/change/"
    save(admin_client, edit, description="x")
    assert SecretGrant.objects.get() == grant
    save(admin_client, edit, secrets="")
    assert not SecretGrant.objects.exists()
