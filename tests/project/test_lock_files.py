"""What the lock files promise to whoever installs from them."""

import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON_LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-node.lock")
PINNED = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


def pinned(lock):
    return set(PINNED.findall((ROOT / lock).read_text()))


def names(requirements):
    return {re.match(r"[a-z0-9-]+", requirement)[0] for requirement in requirements}


@pytest.mark.parametrize("lock", PYTHON_LOCKS)
def test_every_package_has_hashes(lock):
    entries = re.split(r"\n(?=[a-z])", (ROOT / lock).read_text())
    assert all("--hash=sha256:" in entry for entry in entries)


def test_test_lock_contains_the_runtime_lock():
    assert pinned("requirements.lock") <= pinned("requirements-dev.lock")


def test_each_dependency_is_locked_and_explained():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    direct = names(project["project"]["dependencies"] + project["dependency-groups"]["dev"])
    explained = (ROOT / "docs" / "dependencies.md").read_text()
    assert direct <= {name for name, _ in pinned("requirements-dev.lock")}
    assert [name for name in direct if name not in explained] == []


@pytest.mark.parametrize("lock", [*PYTHON_LOCKS, "package-lock.json"])
def test_no_lock_names_a_download_address(lock):
    assert "://" not in (ROOT / lock).read_text()


def test_each_front_end_library_is_explained():
    wanted = json.loads((ROOT / "package.json").read_text())["dependencies"]
    explained = (ROOT / "docs" / "dependencies.md").read_text()
    assert [name for name in wanted if name not in explained] == []
