"""What an attempt gave, on its page and on the overview."""

import json

import pytest

from jobs.execution.rundir import PROGRESS
from jobs.models import Attempt
from tests.dashboard.places import make_job, make_node, make_running
from tests.dashboard.test_instance_page import html, run_directory, running  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db

NAUGHTY = "<b>&.txt"


def kept(instance, name=NAUGHTY, content=b"hello"):
    file = run_directory(instance) / "output" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def tell(instance, done, text=""):
    (run_directory(instance) / PROGRESS).write_text(json.dumps({"done": done, "text": text}))


def test_result_and_files_are_shown(visitor, running):  # noqa: F811
    Attempt.objects.update(result='{"rows": "<b>12</b>"}')
    kept(running)
    page = html(visitor, running)
    assert "&quot;rows&quot;: &quot;&lt;b&gt;12&lt;/b&gt;&quot;" in page
    assert "&lt;b&gt;&amp;.txt" in page
    assert f"/instances/{running.pk}/attempts/1/outputs/%3Cb%3E&amp;.txt" in page


def test_images_are_shown_and_others_downloaded(visitor, running):  # noqa: F811
    kept(running, "plot.png", b"\x89PNG\r\n\x1a\n")
    kept(running, "fake.png", b"hello")
    kept(running, "page.html")
    page = html(visitor, running)
    assert page.count("<img class=") == 1
    image = visitor.get(f"/instances/{running.pk}/attempts/1/outputs/plot.png")
    other = visitor.get(f"/instances/{running.pk}/attempts/1/outputs/page.html")
    assert (image["Content-Type"], other["Content-Type"]) == ("image/png", "application/octet-stream")
    assert other["Content-Disposition"] == 'attachment; filename="page.html"'


@pytest.mark.parametrize("name", ["no.txt", "../spec.json", "%2e%2e/spec.json"])
def test_nothing_else_can_be_had(visitor, running, name):  # noqa: F811
    kept(running)
    assert visitor.get(f"/instances/{running.pk}/attempts/1/outputs/{name}").status_code == 404


def test_a_stranger_gets_no_file(client, running):  # noqa: F811
    kept(running, "a.txt")
    assert client.get(f"/instances/{running.pk}/attempts/1/outputs/a.txt").status_code == 302


def test_progress_is_that_of_the_job(visitor, running):  # noqa: F811
    tell(running, 0.425, "of <files>")
    for page in (html(visitor, running), visitor.get("/").content.decode()):
        assert 'value="42"' in page
        assert "of &lt;files&gt;" in page


@pytest.mark.parametrize("said", ['{"done": 7, "text": ""}', "[]", '{"done": "x"}', "{", '{"done": NaN, "text": "a"}'])
def test_nonsense_in_its_place_is_no_progress(visitor, running, said):  # noqa: F811
    (run_directory(running) / PROGRESS).write_text(said)
    assert "as the job tells" not in html(visitor, running)


def test_page_follows_a_run_that_tells_no_event(visitor):
    from dashboard.topics import parts_of

    instance = make_running(make_job(), make_node())
    part = parts_of(f"instance:{instance.pk}")[0]
    assert part.ages({"head": [("head", _head(instance))]})


def _head(instance):
    from django.utils import timezone

    from dashboard.presentation.instance import read_instance

    return read_instance(instance.pk, timezone.now())["head"][0][1]
