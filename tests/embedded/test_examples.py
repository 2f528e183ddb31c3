"""The programs that show both designs print what is written beside them, every time."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "jobs" / "embedded" / "examples"


@pytest.mark.parametrize("name", ["asyncio_demo", "timetable_demo"])
def test_an_example_prints_what_it_is_said_to(name):
    command = [sys.executable, "-W", "error", "-m", f"jobs.embedded.examples.{name}"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (ran.stderr, ran.returncode) == ("", 0)
    assert ran.stdout == (EXAMPLES / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", ["asyncio_demo", "timetable_demo"])
def test_an_example_is_named_in_the_docs(name):
    assert f"python -m jobs.embedded.examples.{name}" in (ROOT / "docs" / "embedded.md").read_text()
