"""scripts/setup.py: when it works, when it leaves things alone, and what it says when it cannot."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "setup.py"


@pytest.fixture
def setup(tmp_path, monkeypatch):
    """The script as a module, on a checkout that has a lock file and an empty .venv."""
    spec = importlib.util.spec_from_file_location("setup_script", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / ".venv").mkdir()
    (tmp_path / "requirements.lock").write_text("django==5.2\n")
    for name, path in {"ROOT": tmp_path, "VENV": tmp_path / ".venv", "LOG": tmp_path / ".venv" / "setup.log"}.items():
        monkeypatch.setattr(module, name, path)
    return module


def shell(text):
    return ["sh", "-c", text]


def test_old_python_is_refused(setup, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    with pytest.raises(setup.SetupFailed, match=r"needs Python 3.11 or newer"):
        setup.check_python()


def test_this_python_is_fine(setup):
    setup.check_python()


def test_python_without_venv_names_the_package(setup, monkeypatch):
    monkeypatch.setattr(setup.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(setup.SetupFailed, match="apt-get install python3-venv"):
        setup.check_python()


def test_installed_lock_is_left_alone(setup, monkeypatch):
    monkeypatch.setattr(setup, "PIP_INSTALL", shell("exit 0"))
    setup.install(["requirements.lock"])
    monkeypatch.setattr(setup, "PIP_INSTALL", shell("exit 1"))
    setup.install(["requirements.lock"])


def test_changed_lock_is_installed_again(setup, monkeypatch):
    monkeypatch.setattr(setup, "PIP_INSTALL", shell("exit 0"))
    setup.install(["requirements.lock"])
    (setup.ROOT / "requirements.lock").write_text("django==5.2.1\n")
    assert not setup.is_done(setup.VENV, "requirements.lock")


def test_failed_installation_is_tried_again(setup, monkeypatch):
    monkeypatch.setattr(setup, "PIP_INSTALL", shell("exit 1"))
    with pytest.raises(setup.SetupFailed):
        setup.install(["requirements.lock"])
    assert not setup.is_done(setup.VENV, "requirements.lock")


@pytest.mark.parametrize("said", ["[Errno -2] Name or service not known", "npm error code EAI_AGAIN"])
def test_missing_network_is_said_so(setup, said):
    with pytest.raises(setup.SetupFailed, match="no network: the packages cannot be fetched; connect this machine"):
        setup.run(shell(f"echo '{said}'; echo 'No matching distribution'; exit 1"), "the packages")


def test_other_failure_shows_the_last_line(setup):
    with pytest.raises(setup.SetupFailed, match=r"cannot be installed: disk full \(all of it: .*setup.log"):
        setup.run(shell("echo first; echo disk full >&2; exit 1"), "the packages")


def test_earlier_failure_is_not_taken_for_this_one(setup):
    with pytest.raises(setup.SetupFailed, match="no network"):
        setup.run(shell("echo timed out; exit 1"), "the packages")
    with pytest.raises(setup.SetupFailed, match="cannot be installed: other"):
        setup.run(shell("echo other; exit 1"), "the packages")


@pytest.mark.parametrize(
    ("version", "usable"), [("11.19.1", True), ("7.0.0", True), ("6.14.4", False), ("broken", False)]
)
def test_npm_of_machine_must_read_our_lock(setup, monkeypatch, tmp_path, version, usable):
    npm = tmp_path / "npm"
    npm.write_text(f"#!/bin/sh\necho {version}\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert (setup.npm_of_machine() is not None) is usable


def test_only_tests_fetch_what_only_tests_use(setup, monkeypatch, tmp_path):
    fetched = []
    monkeypatch.setattr(setup, "NODE_MODULES", tmp_path)
    monkeypatch.setattr(setup, "npm_of_machine", lambda: ["npm"])
    monkeypatch.setattr(setup, "run", lambda command, _what: fetched.append("--omit=dev" not in command))
    (tmp_path / setup.FRONTEND).write_text("{}")
    for tests in (False, False, True, True, False):
        setup.fetch_frontend_libraries(tests)
    assert fetched == [False, True]
