"""The pages lead where they say, and the example of docs/callables.md is taken as it is written."""

import inspect
import json
import re
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from jobs.callables import job, registry
from jobs.parameters.values import check_values, lacking

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
CALLABLES = (ROOT / "docs" / "callables.md").read_text()


def links_of(page: Path) -> list[tuple[Path, str]]:
    """The files and the headings (empty: none) within the project that a page links."""
    found = re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", page.read_text())
    return [((page.parent / file if file else page).resolve(), heading) for file, heading in found if ":" not in file]


def headings_of(page: Path) -> set[str]:
    """As a link names them: small letters, blanks as hyphens, no other signs."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_somewhere(page):
    links = links_of(page)
    assert [str(file) for file, _ in links if not file.exists()] == []
    assert [(file.name, heading) for file, heading in links if heading and heading not in headings_of(file)] == []


def test_readme_leads_to_every_page():
    linked = {file for file, _ in links_of(ROOT / "README.md")}
    assert [page.name for page in PAGES[1:] if page not in linked] == []


def test_example_of_a_callable_is_taken_as_written(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    example = re.search(r"\n    from datetime .*?\n(?=\S)", CALLABLES, re.DOTALL)
    sent = re.search(r"-d '(.*?)'", CALLABLES)
    assert example
    assert sent
    asked = json.loads(sent[1])
    exec(dedent(example[0]), ModuleType("shop.jobs").__dict__)  # noqa: S102 - the page is ours
    found = registry.get(asked["callable"])
    assert found is not None
    values = asked["parameter_values"]
    assert (check_values(found.schema, values), lacking(found.schema, values)) == (values, [])


def test_options_of_a_callable_are_those_in_the_table():
    table = re.search(r"\| option \|.*?\n\n", CALLABLES, re.DOTALL)
    assert table
    options = [name for name, one in inspect.signature(job).parameters.items() if one.kind is one.KEYWORD_ONLY]
    assert re.findall(r"^\| `(\w+)`", table[0], re.MULTILINE) == options
