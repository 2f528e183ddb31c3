"""Making, replacing and deleting secrets, and giving them to jobs."""

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command

from jobs import actions
from jobs.actions import InvalidInput, NotFound, Refused
from jobs.actions.forms import raw_from_form
from jobs.actions.grants import text_of_uses
from jobs.actions.secrets import COMMON, MOST_BYTES, value_from_form
from jobs.models import Event, Job, Secret, SecretGrant
from jobs.store import secrets, vault
from tests.actions.places import NOW, make_job

pytestmark = pytest.mark.django_db
VALUE = "s3cr3t-value-123"


@pytest.fixture(autouse=True)
def own_data_folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path


def make(name="stripe", value=VALUE, **raw):
    done = actions.create_secret({"name": name, "value": value, **raw}, actor="ann", now=NOW)
    return Secret.objects.get(pk=done.secret_id)


def refused(action, *arguments, **keywords):
    with pytest.raises(InvalidInput) as refusal:
        action(*arguments, **({"actor": "ann", "now": NOW} | keywords))
    return refusal.value.problems


def test_value_is_stored_encrypted_and_told_by_no_event():
    secret = make(description="of the shop")
    assert VALUE.encode() not in bytes(secret.ciphertext)
    assert vault.decrypt(secret) == VALUE
    event = Event.objects.get()
    assert (event.kind, event.actor) == ("secret.changed", "ann")
    assert event.data == {"secret": secret.pk, "name": "stripe", "what": "created"}


def test_key_is_made_for_its_owner_only(settings):
    make()
    assert (settings.DATA_DIR / "secrets_key").stat().st_mode & 0o777 == 0o600


def test_replaced_value_and_description():
    secret = make()
    done = actions.change_secret(secret.pk, {"value": "another-value", "description": "x"}, actor="bob", now=NOW)
    assert done.changed == ("description", "value")
    secret.refresh_from_db()
    assert (vault.decrypt(secret), secret.updated_by, secret.created_by) == ("another-value", "bob", "ann")
    assert Event.objects.last().data["changed"] == ["description", "value"]
    assert actions.change_secret(secret.pk, {"description": "x"}, actor="bob", now=NOW).changed == ()


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "needs a value"), ("", "needs a value"), (12345678, "needs a value"), ("abc", "fewer than 6"),
        ("   abc\n  ", "fewer than 6"), ("aaaaaaaa", "different characters"), ("PassWord", "logs are full of"),
        ("abc\0defgh", "U+0000"), ("abcdefgh\ud800", "half of a surrogate pair"), ("ż" * MOST_BYTES, "65,536 bytes"),
    ],
)  # fmt: skip
def test_value_that_cannot_be_kept_or_masked(value, says):
    [problem] = refused(actions.create_secret, {"name": "stripe", "value": value})
    assert says in problem.sentence
    assert problem.given == "(not repeated, it is secret)"
    assert not Secret.objects.exists()


def test_words_of_logs_are_long_enough_to_be_asked_for():
    assert all(len(word) >= 6 for word in COMMON)


@pytest.mark.parametrize("name", ["", "a b", "-x", "x=y", "ż", "x" * 101, "a\nb"])
def test_name_that_cannot_be_one(name):
    assert {problem.field for problem in refused(actions.create_secret, {"name": name, "value": VALUE})} == {"name"}


def test_value_under_a_wrong_name_is_not_repeated():
    problems = refused(actions.create_secret, {"name": "stripe", "vaule": VALUE})
    assert "did you mean value?" in problems[-1].sentence
    assert not any(VALUE in f"{problem.given}{problem.sentence}" for problem in problems)


def test_name_is_taken_once_and_stays():
    secret = make()
    assert "already" in refused(actions.create_secret, {"name": "stripe", "value": VALUE})[0].sentence
    assert "stays" in refused(actions.change_secret, secret.pk, {"name": "other"})[0].sentence


def test_largest_value_is_kept_unchanged():
    value = "".join(f"{number:07}\n" for number in range(MOST_BYTES // 8))
    assert vault.decrypt(make(value=value)) == value


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("one\r\n", "one"), ("one\n\n", "one"), ("a\r\nb\r\n", "a\nb\n"), ("a\nb", "a\nb"), (" one ", " one ")],
)
def test_line_breaks_of_a_text_area(typed, meant):
    assert value_from_form(typed) == meant


# --- Given to jobs ---


def test_job_is_given_secrets_by_name_or_in_full():
    make()
    make("pem.key")
    job = make_job(secrets=["pem.key", {"name": "stripe", "variable": "STRIPE_FILE", "file": True}])
    found = secrets.given_to([job.pk])[job.pk]
    assert [(one.variable, one.value, one.as_file, one.name) for one in found.values] == [
        ("PEM_KEY", VALUE, False, "pem.key"),
        ("STRIPE_FILE", VALUE, True, "stripe"),
    ]
    assert Event.objects.get(kind="job.created").data["secrets"] == ["PEM_KEY=pem.key", "STRIPE_FILE=stripe"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["strip"], "did you mean stripe?"), (["zzz"], "make it first"), ("stripe", "a list of names"),
        ([7], "a list of names"), ([{"name": "stripe", "as": "X"}], "name, variable and file"),
        ([{"name": "stripe", "variable": "1X"}], "not beginning with a digit"),
        ([{"name": "stripe", "variable": "ROTA_TOKEN"}], "Rota sets itself"),
        ([{"name": "stripe", "variable": "JOB_ID"}], "Rota sets itself"),
        ([{"name": "stripe", "variable": "MODE"}], "environment sets"),
        (["stripe", "stripe"], "as it does another"), ([{"name": "stripe", "file": "yes"}], "true or false"),
        ([{"name": "stripe", "variable": 1}], "expected text"), ([{"name": ["stripe"]}], "There is no secret"),
        ([{"variable": "A"}], 'secrets has an object with "variable", which names no secret; give its name.'),
    ],
)  # fmt: skip
def test_secrets_that_cannot_be_given(given, says):
    make()
    raw = {"name": "nightly", "command": "true", "environment": {"MODE": "x"}, "secrets": given}
    problems = refused(actions.create_job, raw)
    assert [problem.field for problem in problems] == ["secrets"]
    assert says in problems[0].sentence


def test_edit_of_what_is_given_is_one_of_the_job():
    make()
    job = make_job(secrets=["stripe"])
    changed = actions.change_job(job.pk, {"secrets": [{"name": "stripe", "variable": "KEY"}]}, actor="ann", now=NOW)
    assert changed.changed == ("secrets",)
    job.refresh_from_db()
    assert job.revision == 2
    assert Event.objects.last().data == {"changed": ["secrets"], "secrets": ["KEY=stripe"]}
    actions.change_job(job.pk, {"description": "x"}, actor="ann", now=NOW)
    assert SecretGrant.objects.get().variable == "KEY"
    actions.change_job(job.pk, {"secrets": None}, actor="ann", now=NOW)
    assert Event.objects.last().data == {"changed": ["secrets"], "secrets": []}
    assert not SecretGrant.objects.exists()


def test_lines_of_a_form_say_the_same_as_the_api():
    raw = [{"name": "a.b", "variable": "A", "file": False}, {"name": "c", "variable": "C", "file": True}]
    assert raw_from_form({"secrets": text_of_uses(raw)}) == {"secrets": raw}
    assert raw_from_form({"secrets": " a.b \r\n\r\n"}) == {"secrets": [{"name": "a.b", "file": False}]}


def test_secret_in_use_is_kept_and_the_jobs_named():
    secret = make()
    for number in range(7):
        make_job(f"job {number}", secrets=["stripe"])
    with pytest.raises(Refused, match=r"job 0, job 1, job 2, job 3, job 4 and 2 others"):
        actions.delete_secret(secret.pk, actor="ann", now=NOW)
    Job.objects.all().delete()
    actions.delete_secret(secret.pk, actor="ann", now=NOW)
    assert Event.objects.last().data["what"] == "deleted"
    with pytest.raises(NotFound):
        actions.delete_secret(secret.pk, actor="ann", now=NOW)


def test_secret_deleted_at_the_same_moment_is_told(monkeypatch):
    secret = make()
    stored = secrets.set_uses
    monkeypatch.setattr(secrets, "set_uses", lambda *given: (secret.delete(), stored(*given)))
    raw = {"name": "nightly", "command": "true", "secrets": ["stripe"]}
    assert "deleted at this moment" in refused(actions.create_job, raw)[0].sentence
    assert not Job.objects.exists()


# --- Keys ---


def test_node_with_another_key_says_so(settings):
    job = make_job(secrets=[make().name])
    settings.SECRETS_KEYS = [Fernet.generate_key().decode()]
    found = secrets.given_to([job.pk])[job.pk]
    assert not found.values
    assert "the secret stripe cannot be read with the keys of this node" in found.error
    assert vault.unreadable() == ["stripe"]


def test_first_key_of_the_setting_encrypts_and_all_decrypt(settings):
    old, new = (Fernet.generate_key().decode() for _ in range(2))
    settings.SECRETS_KEYS = [old]
    secret = make()
    settings.SECRETS_KEYS = [new, old]
    assert vault.decrypt(secret) == VALUE
    call_command("rotatesecrets")
    settings.SECRETS_KEYS = [new]
    secret.refresh_from_db()
    assert vault.decrypt(secret) == VALUE
    assert not (settings.DATA_DIR / "secrets_key").exists()


def test_rotation_makes_a_new_key_where_none_is_set(settings, capsys):
    secret, file = make(), settings.DATA_DIR / "secrets_key"
    before = file.read_text()
    for _ in range(3):
        call_command("rotatesecrets")
    secret.refresh_from_db()
    assert vault.decrypt(secret) == VALUE
    assert before not in file.read_text()
    assert len(file.read_text().split()) == 2
    assert file.stat().st_mode & 0o777 == 0o600
    assert "1 secret is encrypted with a new key" in capsys.readouterr().out


def test_rotation_keeps_what_it_cannot_read(settings):
    make("old")
    settings.SECRETS_KEYS = [Fernet.generate_key().decode()]
    secret = make("new")
    with pytest.raises(CommandError, match="old cannot be read"):
        call_command("rotatesecrets")
    secret.refresh_from_db()
    assert vault.decrypt(secret) == VALUE


@pytest.mark.parametrize("text", [b"", b"half a key", b"\xf3\x00", None])
def test_broken_file_of_keys_stops_nothing_but_secrets(settings, text):
    job, file = make_job(secrets=[make().name]), settings.DATA_DIR / "secrets_key"
    file.unlink()
    file.mkdir() if text is None else file.write_bytes(text)
    assert "cannot be read with the keys of this node" in secrets.given_to([job.pk])[job.pk].error
    assert vault.notices()[0].startswith("The file secrets_key in the data folder cannot be used: ")
    assert (
        "secrets_key in the data folder cannot be used"
        in refused(actions.create_secret, {"name": "b", "value": VALUE})[0].sentence
    )
    with pytest.raises(CommandError, match="cannot be used"):
        call_command("rotatesecrets")
    assert text is None or file.read_bytes() == text


@pytest.mark.parametrize(
    "given", [{"TOKEN": VALUE}, VALUE, [{"name": "stripe", "value": VALUE}], [[VALUE]], [VALUE] * 51]
)
def test_value_in_the_field_of_a_job_is_not_repeated(given):
    make()
    raw = {"name": "load", "command": "true", "secrets": given}
    problems = refused(actions.create_job, raw)
    assert {problem.field for problem in problems} == {"secrets"}
    assert not any(VALUE in f"{problem.given}{problem.sentence}" for problem in problems)
