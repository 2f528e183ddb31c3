import pytest

from dashboard.presentation.navigation import PAGES, pages_seen_from


def marked(path):
    return [(page.name, page.current) for page in pages_seen_from(path) if page.current]


@pytest.mark.parametrize(
    ("path", "name", "current"),
    [
        ("/", "overview", "page"),
        ("/jobs/", "jobs", "page"),
        ("/jobs/7/edit/", "jobs", "true"),
        ("/jobs/new/", "new-job", "page"),
        ("/instances/operations/3/", "instances", "true"),
        ("/schedules/", "schedules", "page"),
        ("/nodes/1/", "nodes", "true"),
    ],
)
def test_header_marks_where_the_page_belongs(path, name, current):
    assert marked(path) == [(name, current)]


def test_page_may_say_what_it_is_part_of():
    seen = pages_seen_from("/instances/operations/3/", "jobs")
    assert [(page.name, page.current) for page in seen if page.current] == [("jobs", "true")]


def test_page_of_no_section_marks_none():
    assert marked("/elsewhere/") == []


def test_each_page_has_a_key_of_its_own():
    assert len({page.key for page in PAGES} - {"g", "a"}) == len(PAGES)
