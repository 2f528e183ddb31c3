"""What looks like a qualifier and is none is said to be none, in each of the searches."""

import pytest
from django.utils import timezone

from dashboard.filters import Cursor, filter_in
from dashboard.jobsearch import search_of
from dashboard.presentation.matching import ids_of_page, parts_matching
from dashboard.qualifiers import unknown_qualifiers, words_of
from dashboard.schedulesearch import ScheduleQuery
from tests.dashboard.places import make_job, make_waiting


@pytest.mark.parametrize("text", ["foo:bar", "cores:2", "-tag:x", 'nightly foo:"a b"'])
def test_unknown_qualifier_is_explained(text):
    (problem,) = search_of(text).problems
    assert text.split()[-1].split('"')[0] in problem
    assert "known are tag:, status:, owner:, kind:, is:" in problem


@pytest.mark.parametrize(
    "text", ['"foo:bar"', "12:30", "https://x", "ends: here", "ValueError:x", "a-b:c", 'tag:"x:y"']
)
def test_what_has_a_colon_may_be_a_word(text):
    assert unknown_qualifiers(text, ("tag",), "known is tag:") == []


def test_words_in_quotes_stay_together():
    assert words_of('a "b c" d:e ""') == ["a", "b c", "d:e"]


@pytest.mark.django_db
def test_schedules_and_instances_explain_it(visitor):
    assert ScheduleQuery('"foo:bar" x').problems == []
    for page in ("schedules", "instances"):
        html = visitor.get(f"/{page}/", {"q": "status:failed"}).content.decode()
        assert "status:failed says nothing here" in html


@pytest.mark.django_db
def test_text_in_quotes_finds_instances():
    waiting = make_waiting(make_job("app:nightly"))
    wanted = filter_in("q=%22app:nightly%22")
    assert ids_of_page(parts_matching(wanted, timezone.now()), Cursor(), 5) == [waiting.pk]
