"""The reader of environment variables: each kind of value, and the sentence for each kind of nonsense."""

import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jobs.core.fairshare import GREATEST_WEIGHT, LEAST_WEIGHT
from jobs.core.order import make_order
from scheduler_site import environment, outgoing_mail
from scheduler_site.environment import SettingError


@pytest.fixture
def given(monkeypatch):
    return lambda value: monkeypatch.setenv("ROTA_THING", value)


def refusal(read, *arguments, **options):
    with pytest.raises(SettingError) as caught:
        read("ROTA_THING", *arguments, **options)
    return str(caught.value)


def test_unset_and_empty_mean_the_default(given):
    assert environment.integer("ROTA_THING", 8, lowest=1, highest=9) == 8
    given(" ")
    assert environment.integer("ROTA_THING", 8, lowest=1, highest=9) == 8


@pytest.mark.parametrize("value", ["0", "10", "x", "1.5"])
def test_number_out_of_bounds_is_refused(given, value):
    given(value)
    assert refusal(environment.integer, 8, lowest=1, highest=9) == (
        f"ROTA_THING is '{value}', but must be a whole number from 1 to 9. Unset it for the default of 8."
    )


@pytest.mark.parametrize(("value", "meant"), [("1", True), ("YES", True), ("off", False), ("0", False)])
def test_flag_understands_usual_words(given, value, meant):
    given(value)
    assert environment.flag("ROTA_THING", default=not meant) is meant


def test_unknown_flag_is_refused(given):
    given("maybe")
    assert "must be 1, true, yes, on or 0, false, no, off" in refusal(environment.flag)


def test_choice_outside_the_list_is_refused(given):
    given("lifo")
    assert refusal(environment.choice, "fifo", ("fifo", "priority")).startswith("ROTA_THING is 'lifo', but must be")


def test_weights_are_read_by_name(given):
    given("a=3, night shift = 0.5,x=y=1,")
    read = environment.weights("ROTA_THING", lowest=0.01, highest=100)
    assert read == {"a": 3.0, "night shift": 0.5, "x=y": 1.0}


def test_no_weights_are_no_names():
    assert environment.weights("ROTA_THING", lowest=0.01, highest=100) == {}


@pytest.mark.parametrize(
    "word", ["a", "3", "a=", "=3", "a=x", "a=0", "a=-1", "a=101", "a=nan", "a=inf", "a=1=x", "a:3"]
)
def test_impossible_weight_is_refused(given, word):
    given(f"b=1,{word}")
    assert refusal(environment.weights, lowest=0.01, highest=100) == (
        f"ROTA_THING is '{word}', but must be a name, =, and a number from 0.01 to 100. "
        "Say for example research=3,nightly=0.5."
    )


def test_name_with_two_weights_is_refused(given):
    given("a=1,b=2,a=3")
    assert refusal(environment.weights, lowest=0.01, highest=100) == (
        "ROTA_THING is 'a=1,b=2,a=3', but must be a list that says each name once. Say a once."
    )


def test_weights_that_are_read_make_an_order(given):
    given("a=0.01,b=100")
    make_order("fair", environment.weights("ROTA_THING", lowest=LEAST_WEIGHT, highest=GREATEST_WEIGHT))


def test_every_setting_is_described():
    root = Path(__file__).resolve().parents[2]
    read = re.findall(r'environment\.\w+\(\s*"(\w+)"', (root / "scheduler_site" / "settings.py").read_text())
    described = (root / "docs" / "settings.md").read_text()
    assert len(read) > 10
    assert [name for name in read if f"`{name}`" not in described] == []


def test_words_are_split_and_trimmed(given):
    given("a.example, b.example,,")
    assert environment.words("ROTA_THING") == ["a.example", "b.example"]


@pytest.mark.parametrize("zone", ["Mars/Olympus", "Europe", "/etc/passwd", "../x"])
def test_unknown_time_zone_is_refused(given, zone):
    given(zone)
    assert "must be the name of an IANA time zone" in refusal(environment.time_zone, "UTC")


def test_folder_is_made_for_its_owner_only(given, tmp_path):
    given(str(tmp_path / "a" / "b"))
    folder = environment.folder("ROTA_THING", tmp_path)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_file_in_the_way_of_a_folder_is_refused(given, tmp_path):
    (tmp_path / "a").write_text("")
    given(str(tmp_path / "a" / "b"))
    assert "a folder that can be made and written (Not a directory)" in refusal(environment.folder, tmp_path)


def test_database_is_sqlite_unless_set(tmp_path):
    database = environment.database_url("ROTA_THING", tmp_path / "db.sqlite3")
    assert (database["ENGINE"], database["NAME"]) == ("jobs.sqlite", str(tmp_path / "db.sqlite3"))


def test_database_url_names_postgres(given, tmp_path):
    given("postgres://me:secret@db.example:5433/rota")
    database = environment.database_url("ROTA_THING", tmp_path)
    assert (database["ENGINE"], database["HOST"], database["PORT"]) == (
        "django.db.backends.postgresql",
        "db.example",
        5433,
    )


def test_connection_of_postgres_is_looked_at_before_it_is_given_out(given, tmp_path):
    """Of those that lay in the pool while the server was started anew, each had a request refused."""
    given("postgres://db.example/rota")
    assert environment.database_url("ROTA_THING", tmp_path)["CONN_HEALTH_CHECKS"] is True


@pytest.mark.parametrize(
    "value", ["mysql://h/rota", "db.sqlite3", "postgres://me:secret@h:x/rota", "sqlite://:memory:"]
)
def test_other_databases_are_refused(given, tmp_path, value):
    given(value)
    assert "must be a URL that" in refusal(environment.database_url, tmp_path)


def test_refusal_does_not_repeat_a_password(given, tmp_path):
    given("mysql://me:secret@db.example/rota")
    sentence = refusal(environment.database_url, tmp_path)
    assert "secret" not in sentence
    assert "mysql://me:***@db.example/rota" in sentence


def test_secret_key_is_kept_for_its_owner(tmp_path):
    key = environment.secret_key("ROTA_THING", tmp_path / "secret_key")
    assert environment.secret_key("ROTA_THING", tmp_path / "secret_key") == key
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


def test_two_first_starts_agree_on_a_key(tmp_path):
    def read(_):
        return environment.secret_key("ROTA_THING", tmp_path / "secret_key")

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(read, range(8)))) == 1


def test_short_secret_key_is_refused_unseen(given, tmp_path):
    given("hunter2")
    sentence = refusal(environment.secret_key, tmp_path / "secret_key")
    assert "at least 32 characters" in sentence
    assert "hunter2" not in sentence


def test_mail_server_is_read_from_a_url(given):
    given("smtp+tls://me%40example:p%2Fw@mail.example")
    mail = outgoing_mail.from_url("ROTA_THING")
    assert (mail["EMAIL_HOST_USER"], mail["EMAIL_HOST_PASSWORD"], mail["EMAIL_PORT"]) == ("me@example", "p/w", 587)
    assert mail["EMAIL_USE_TLS"]
    assert not mail["EMAIL_USE_SSL"]
