import pytest

from jobs.execution.masking import MASK, SECRET_WORDS, masked


@pytest.mark.parametrize("word", SECRET_WORDS)
def test_secret_is_told_by_its_name(word):
    assert masked(f"MY_{word}_2", "hunter2") == masked(word.lower(), "hunter2") == MASK


@pytest.mark.parametrize("name", ["PATH", "HOME", "LANG", "MODE", "OMP_NUM_THREADS"])
def test_other_names_are_shown(name):
    assert masked(name, "/usr/bin:/bin") == "/usr/bin:/bin"


def test_nothing_is_shown_as_nothing():
    assert masked("API_TOKEN", "") == ""


@pytest.mark.parametrize("password", ["hunter2", "hunt@er2", "hunt/er2", "hunt:er2"])
def test_password_in_an_address_is_masked(password):
    assert masked("DB", f"postgres://u:{password}@db:5432/x") == f"postgres://u:{MASK}@db:5432/x"


@pytest.mark.parametrize("address", ["https://example.org:8080/a", "ssh://git@example.org/a", "mailto:a@example.org"])
def test_address_without_a_password_is_shown(address):
    assert masked("REMOTE", address) == address


def test_secret_within_json_is_masked():
    assert masked("ROTA_PARAM_PLACE", '{"user": "a", "db_password" : "hush"}') == MASK
    assert masked("ROTA_PARAM_PLACE", '{"user": "the password"}') == '{"user": "the password"}'
