"""The library stands on jobs.core alone, and on the only engine there is."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.core.states import MOVES, TERMINAL

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "jobs" / "embedded").rglob("*.py"))


def names_in(file: Path) -> set[str]:
    tree = ast.parse(file.read_text())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return imported | {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}


def test_importing_it_loads_no_django_and_little_else():
    program = "import sys; old = set(sys.modules); import jobs.embedded; print(*(set(sys.modules) - old))"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in ran.stdout.split()}
    assert "jobs" in loaded
    strange = loaded - set(sys.stdlib_module_names) - {"jobs", "croniter", "dateutil", "pytz", "tzdata", "six"}
    assert not {name for name in strange if not name.startswith("_")}


def test_it_imports_jobs_core_and_itself_only():
    ours = {name for file in FILES for name in names_in(file) if name.split(".")[0] == "jobs"}
    assert {".".join(name.split(".")[:2]) for name in ours} == {"jobs.core", "jobs.embedded"}


def test_only_its_threads_and_tokens_are_known_outside():
    """The host of callables runs functions as this library does; nobody else needs it."""
    rooms = [file for room in ("jobs", "dashboard", "scheduler_site") for file in (ROOT / room).rglob("*.py")]
    known = {
        (file.parent.name, name)
        for file in rooms
        if file not in FILES
        for name in names_in(file)
        if name.startswith("jobs.embedded")
    }
    parts = {"cancellation", "errors", "threads"}
    assert known == {("callables", f"jobs.embedded.{part}") for part in parts}


@pytest.mark.parametrize("module", ["heapq", "sched", "bisect", "enum", "concurrent.futures"])
def test_there_is_no_second_heap_and_no_second_pool(module):
    assert not [file.name for file in FILES if module in names_in(file)]


def test_there_is_no_second_state_table():
    calls = [
        (file.name, ast.unparse(node.func))
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
    ]
    assert [file for file, called in calls if called == "check_move"] == ["ledger.py"]
    dictionaries = [
        node for file in FILES for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Dict)
    ]
    keyed = [ast.unparse(key) for node in dictionaries for key in node.keys if key is not None]
    assert not [key for key in keyed if key.startswith("Status.")]
    assert len(MOVES) + len(TERMINAL) == 10


def test_a_status_is_written_in_one_place():
    writes = [
        (file.name, function.name)
        for file in FILES
        for function in ast.walk(ast.parse(file.read_text()))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and any(keyword.arg == "status" for keyword in node.keywords)
    ]
    assert writes == [("ledger.py", "move")]


def test_everything_that_is_decided_is_decided_by_the_core():
    used = {name for file in FILES for name in names_in(file) if name.startswith("jobs.core.")}
    assert {"jobs.core.engine", "jobs.core.timetable"} <= used
    from jobs.core.graph import Graph
    from jobs.core.ready import ReadySet
    from jobs.embedded import Scheduler

    engine = Scheduler()._driver.engine
    assert isinstance(engine.graph, Graph)
    assert isinstance(engine.waiting.ready, ReadySet)
