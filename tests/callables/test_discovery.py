"""The jobs.py of installed apps: found, or told why not."""

import sys
from pathlib import Path

import pytest
from django.test import override_settings

from jobs.callables import discovery, registry

FINE = "from jobs.callables import job\n\n@job\ndef greet(name: str = 'you') -> str:\n    return name\n"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    """Makes an app of this name with this jobs.py."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(discovery, "_failures", {})

    def make(name: str, text: str) -> str:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
        (tmp_path / name / "jobs.py").write_text(text)
        request.addfinalizer(lambda: [sys.modules.pop(module, None) for module in (name, f"{name}.jobs")])
        return name

    return make


def test_the_jobs_of_an_installed_app_are_found(app):
    with override_settings(INSTALLED_APPS=["jobs", app("greetings", FINE)]):
        discovery.discover()
    assert registry.get("greetings.jobs.greet") is not None
    assert not discovery.failures()


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("import nowhere_to_be_found\n", "ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
        ("class Own(BaseException): ...\nraise Own(3)\n", "Own: 3"),
        ("class Mute(Exception):\n    __str__ = None\nraise Mute\n", "Mute: (it cannot be printed"),
        ("def (:\n", "SyntaxError"),
        ("@job\ndef other(*all): ...\n", "it takes *all"),
    ],
)
def test_a_broken_app_stops_nothing_and_is_told(app, end, said, caplog):
    with override_settings(INSTALLED_APPS=[app("broken", FINE + end), app("greetings", FINE)]):
        discovery.discover()
    assert [found.name for found in registry.all()] == ["greetings.jobs.greet"]
    (sentence,) = discovery.failures()
    assert sentence.startswith("The jobs.py of the app broken cannot be imported: ")
    assert said in sentence
    assert "broken" in caplog.text
