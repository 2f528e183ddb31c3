"""Which room may import which: scheduler_site -> dashboard -> jobs -> jobs.core, and what keeps jobs.core pure."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(__file__).resolve().parents[2]
OURS = ("jobs", "dashboard", "scheduler_site")
# What jobs.core may use of the standard library: no file, socket, process, thread, clock or chance of its own.
PURE = {
    "__future__", "abc", "bisect", "calendar", "collections", "contextlib", "copy", "dataclasses", "datetime",
    "decimal", "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "importlib", "itertools", "json",
    "math", "operator", "random", "re", "statistics", "string", "types", "typing", "uuid", "zoneinfo",
}  # fmt: skip
CLOCK_CALLS = {"now", "utcnow", "today", "time", "monotonic", "perf_counter"}


@cache
def modules() -> dict[str, Path]:
    files = (file for room in OURS for file in (ROOT / room).rglob("*.py"))
    return {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(modules()[module].read_text())


@cache
def imports(module: str, at_start_only: bool = False) -> frozenset[str]:
    """Full names of what a module imports; with `at_start_only`, not what a function imports when it is called."""
    found: set[str] = set()
    for node in statements(tree(module)) if at_start_only else ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively; say the full name"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(known(name) for name in found)


def statements(parent: ast.AST) -> Iterator[ast.AST]:
    """All nodes that run when the module is imported; `if TYPE_CHECKING` never does."""
    for node in ast.iter_child_nodes(parent):
        typing_only = isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        if not typing_only and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node
            yield from statements(node)


def known(name: str) -> str:
    """`jobs.core.states.Status` is a name in the module `jobs.core.states`."""
    while name not in modules() and "." in name and within(name, *OURS):
        name = name.rpartition(".")[0]
    return name


def within(module: str, *rooms: str) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


def breaches(rooms: tuple[str, ...], forbidden: tuple[str, ...], exempt: tuple[str, ...] = ()) -> list[str]:
    return [
        f"{module} imports {name}"
        for module in modules()
        if within(module, *rooms) and not within(module, *exempt)
        for name in imports(module)
        if within(name, *forbidden)
    ]


def test_core_knows_no_other_room():
    others = tuple(name for name in modules() if not within(name, "jobs.core") and name != "jobs")
    assert not breaches(("jobs.core",), others)


def test_core_uses_pure_standard_library_only():
    strange = {
        (module, name.split(".")[0])
        for module in modules()
        if within(module, "jobs.core")
        for name in imports(module)
        if name.split(".")[0] not in PURE | {"jobs"}
    }
    assert {name for _, name in strange} <= {"croniter"}, strange
    assert len(strange) <= 1, f"croniter belongs behind one module: {strange}"


def test_core_reads_no_clock():
    reads = [
        f"{module}:{node.lineno}"
        for module in modules()
        if within(module, "jobs.core")
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCK_CALLS
        if isinstance(node.func.value, ast.Name) and node.func.value.id in {"datetime", "date", "time", "dt"}
    ]
    assert not reads


def test_jobs_does_not_know_the_dashboard():
    assert not breaches(("jobs",), ("dashboard",))


def test_only_commands_know_the_site():
    # A command is where a process begins: it stands above all rooms.
    assert not breaches(("jobs", "dashboard"), ("scheduler_site",), exempt=("jobs.management",))


def test_only_the_dashboard_and_asgi_know_channels():
    assert not breaches(OURS, ("channels", "channels_redis"), exempt=("dashboard", "scheduler_site.asgi"))


@pytest.mark.parametrize("program", ["jobs.execution.runner", "jobs.execution.launcher"])
def test_runner_and_launcher_need_only_the_standard_library(program):
    assert program in modules()
    todo, seen = [program], set()
    while todo:
        module = todo.pop()
        if module in seen or module not in modules():
            continue
        seen.add(module)
        todo += imports(module, at_start_only=True)
        strange = {name for name in imports(module) if name.split(".")[0] not in sys.stdlib_module_names | {"jobs"}}
        assert not strange, f"{module}, which {program} loads, imports {strange}"


def test_service_without_pages_loads_neither_admin_nor_api():
    """They were half of its start: Django loads every admin.py unless it is told not to."""
    todo, seen = ["jobs.service.service", "jobs.apps", "dashboard.apps", "scheduler_site.settings"], set()
    while todo:
        if (module := todo.pop()) in modules() and module not in seen:
            seen.add(module)
            todo += imports(module, at_start_only=True)
    assert not [module for module in seen if within(module, "jobs.admin", "jobs.api", "dashboard.views")]
    assert "django.contrib.admin" not in settings.INSTALLED_APPS


def test_no_module_imports_itself_in_a_circle():
    graph = {module: imports(module, at_start_only=True) - {module} for module in modules()}
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_circle_between_packages():
    def package(module: str) -> str:
        parts = module.split(".")
        return ".".join(parts[:2]) if parts[0] == "jobs" else parts[0]

    graph: dict[str, set[str]] = {}
    for module in modules():
        if not within(module, "jobs.management", "jobs.apps"):
            needs = {package(name) for name in imports(module, at_start_only=True) if name in modules()}
            graph.setdefault(package(module), set()).update(needs - {package(module), "jobs"})
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
