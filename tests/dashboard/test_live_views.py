import asyncio

import pytest
from django.test import AsyncClient

from dashboard.live.logs import LogPlace
from dashboard.live.places import path_of
from dashboard.views.logs import _bytes_of
from tests.dashboard.outputs import finish, printed, writing
from tests.dashboard.places import end, make_job, make_node, make_running, make_waiting

pytestmark = pytest.mark.django_db


@pytest.fixture
def running():
    return make_running(make_job(), make_node())


def log(visitor, instance, **query):
    return visitor.get(f"/instances/{instance.pk}/log/", query).json()


def test_rows_are_those_of_the_socket(visitor, running):
    frames = visitor.get("/live/rows/?topic=overview&topic=site").json()["frames"]
    assert [frame["topic"] for frame in frames] == ["overview", "site"]
    assert frames[0]["regions"]["running"]["order"] == [f"i{running.pk}"]
    assert frames[0]["position"].endswith(":0")


def test_unknown_topic_is_refused_with_what_is_known(visitor):
    response = visitor.get("/live/rows/?topic=nothing")
    assert response.status_code == 400
    assert b"known are" in response.content


def test_topic_of_what_is_gone_says_so(visitor):
    [frame] = visitor.get("/live/rows/?topic=instance:99").json()["frames"]
    assert "does not exist" in frame["regions"]["notice"]["rows"]["gone"]


def test_polling_pages_get_the_load_too(visitor):
    kinds = [[frame["kind"] for frame in visitor.get("/live/rows/?topic=load").json()["frames"]] for _ in range(2)]
    assert kinds[0] in ([], ["load"])


def test_log_part_goes_on_from_its_offset(visitor, running):
    printed(path_of(running.pk, 1, running.token), b"one\ntwo\n")
    frame = log(visitor, running, start=4)
    assert (frame["attempt"], frame["start"], frame["end"], frame["text"]) == (1, 4, 8, "two\n")


def test_log_of_one_without_attempt_is_empty(visitor):
    assert log(visitor, make_waiting(make_job()))["attempt"] == 0


def test_long_log_is_cut_to_its_end(visitor, running):
    printed(path_of(running.pk, 1, running.token), b"x" * 3_000_000 + b"\nafter\n")
    frame = log(visitor, running)
    assert frame["text"].endswith("\nafter\n")
    assert len(frame["text"]) < 300_000
    assert frame["skipped"] == 3_000_007 - len(frame["text"])
    assert frame["dropped"] == 0
    page = visitor.get(f"/instances/{running.pk}/").content
    assert len(page) < 200_000


def test_what_the_cap_dropped_is_not_promised(visitor, running):
    with writing(path_of(running.pk, 1, running.token), cap_bytes=2_000_000) as write:
        for _ in range(10):
            write(b"y" * 999_999 + b"\n")
    frame = log(visitor, running)
    assert 0 < frame["dropped"] < frame["skipped"]


@pytest.mark.django_db(transaction=True)
async def test_download_is_all_of_it_byte_for_byte(ann):
    def prepared():
        instance = make_running(make_job(), make_node())
        path = path_of(instance.pk, 1, instance.token)
        printed(path, b"\x1b[31m\xff\r raw\n" * 50_000)
        finish(path, 12 * 50_000)
        return end(instance)

    client = AsyncClient()
    await client.aforce_login(ann)
    instance = await asyncio.to_thread(in_own_connection, prepared)
    response = await client.get(f"/instances/{instance.pk}/log/download/")
    body = b"".join([part async for part in response.streaming_content])
    assert body == b"\x1b[31m\xff\r raw\n" * 50_000
    assert "attachment" in response["Content-Disposition"]
    assert (await client.get(f"/instances/{instance.pk}/log/download/?attempt=9")).status_code == 404


async def test_download_of_a_growing_log_ends(tmp_path):
    """It went on for as long as the job printed, where that was faster than the reader."""
    with writing(tmp_path) as write:
        write(b"first\n")
        parts = []
        async for part in _bytes_of(LogPlace(1, tmp_path), end=6):
            parts.append(part)
            write(b"more\n")
    assert parts == [b"first\n"]


def in_own_connection(work):
    from django.db import connection

    try:
        return work()
    finally:
        connection.close()


@pytest.mark.parametrize("address", ["/instances/{}/", "/instances/{}/log/"])
def test_result_that_a_job_wrote_over_breaks_no_page(visitor, running, address):
    path = path_of(running.pk, 1, running.token)
    printed(path, b"hello\n")
    (path / "result.json").write_text("[" * 100_000)
    assert visitor.get(address.format(running.pk)).status_code == 200
