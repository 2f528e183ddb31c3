import shutil

import pytest

from jobs.execution.logwriter import STDOUT
from jobs.models import Attempt, Node
from tests.actions.places import NOW, make_instance, make_job
from tests.api.logs import write_log

pytestmark = pytest.mark.django_db

TEXT = b"first\nsecond \xff\x00\xe2\x82\xac\nlast"


@pytest.fixture
def address():
    """Of the log of an instance whose only attempt printed TEXT and ended."""
    return f"instances/{logged([(STDOUT, TEXT)])}/log"


def logged(reads, number=1, instance=None, *, complete=True, cap=2**20):
    instance = instance or make_instance(make_job(), "success")
    node = Node.objects.get_or_create(name="alpha", cores=[0])[0]
    token = f"{number:08}ffff"
    Attempt.objects.create(
        instance=instance, number=number, token=token, node=node, created_at=NOW, ended_at=NOW, status="ended",
        outcome="success",
    )  # fmt: skip
    write_log(instance.pk, number, token, reads, complete=complete, cap=cap)
    return instance.pk


def whole(response):
    return b"".join(response.streaming_content)


def test_whole_log_comes_as_raw_bytes(api, address):
    response = api.get(address)
    assert whole(response) == TEXT
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert (response.headers["X-Log-End"], response.headers["X-Log-Complete"]) == (str(len(TEXT)), "true")


def test_part_says_where_to_read_on(api, address):
    response = api.get(f"{address}?start=6&limit=6")
    assert response.content == b"second"
    headers = {name: response.headers[f"X-Log-{name}"] for name in ("Start", "End", "Complete")}
    assert headers == {"Start": "6", "End": "12", "Complete": "false"}
    assert api.get(f"{address}?start=12").headers["X-Log-Complete"] == "true"


def test_nothing_new_is_an_empty_part(api):
    number = logged([(STDOUT, TEXT)], complete=False)
    response = api.get(f"instances/{number}/log?start={len(TEXT)}")
    assert (response.status_code, response.content, response.headers["X-Log-Complete"]) == (200, b"", "false")


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-4", 0, 5),
        ("bytes=6-", 6, len(TEXT)),
        ("bytes=-4", len(TEXT) - 4, len(TEXT)),
        ("bytes=0-999", 0, len(TEXT)),
    ],
)
def test_range_is_answered_as_asked(api, address, asked, start, stop):
    response = api.get(address, headers={"Range": asked})
    assert (response.status_code, response.content) == (206, TEXT[start:stop])
    assert response.headers["Content-Range"] == f"bytes {start}-{stop - 1}/{len(TEXT)}"


def test_range_beyond_the_end_is_refused(api, address, problem):
    response = api.get(address, headers={"Range": "bytes=999-"})
    problem(response, 416)
    assert response.headers["Content-Range"] == f"bytes */{len(TEXT)}"


def test_range_that_ends_before_it_begins_is_told(api, address, problem):
    answer = problem(api.get(address, headers={"Range": "bytes=5-2"}), 416)
    assert answer["detail"] == "The range begins at 5 and ends at 2; ask for the lower first."


@pytest.mark.parametrize("asked", ["lines=0-4", "bytes=4-0x", "bytes=-", "bytes=0-1,3-4", "bytes=" + "9" * 40 + "-"])
def test_range_that_is_none_gets_the_whole(api, address, asked):
    assert whole(api.get(address, headers={"Range": asked})) == TEXT


def test_range_of_another_version_gets_the_whole(api, address):
    assert whole(api.get(address, headers={"Range": "bytes=0-4", "If-Range": '"x"'})) == TEXT


def test_growing_log_has_no_total(api):
    number = logged([(STDOUT, TEXT)], complete=False)
    response = api.get(f"instances/{number}/log", headers={"Range": "bytes=0-1"})
    assert response.headers["Content-Range"] == "bytes 0-1/*"


def test_log_past_its_cap_says_what_is_gone(api):
    number = logged([(STDOUT, b"%07d\n" % n) for n in range(8192)], cap=16_384)
    response = api.get(f"instances/{number}/log")
    kept = whole(response)
    first, after = map(int, response.headers["X-Log-Dropped"].split("-"))
    assert kept.startswith(b"0000000\n")
    assert kept.endswith(b"0008191\n")
    assert len(kept) == 8192 * 8 - (after - first)


def test_range_of_what_was_dropped_gets_nothing_else(api, problem):
    """It got the bytes that came next, which a program takes for those that it asked for."""
    number = logged([(STDOUT, b"%07d\n" % n) for n in range(8192)], cap=16_384)
    address = f"instances/{number}/log"
    first, after = map(int, api.get(address).headers["X-Log-Dropped"].split("-"))
    refused = api.get(address, headers={"Range": f"bytes={first + 8}-{first + 15}"})
    assert problem(refused, 416)["detail"].startswith("These bytes are not kept")
    over = api.get(address, headers={"Range": f"bytes={after - 8}-{after + 7}"})
    assert (over.status_code, over.content) == (206, b"%07d\n" % (after // 8))
    assert over.headers["Content-Range"] == f"bytes {after}-{after + 7}/65536"


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [("line=2", 6, len(TEXT)), ("line=2&lines=1", 6, 19), ("lines=2", 0, 19), ("line=3", 19, len(TEXT)),
     ("line=4", len(TEXT), len(TEXT)), ("line=999&lines=1", len(TEXT), len(TEXT))],
)  # fmt: skip
def test_lines_are_answered_as_asked(api, address, asked, start, stop):
    response = api.get(f"{address}?{asked}")
    assert (response.status_code, response.content) == (200, TEXT[start:stop])
    assert (response.headers["X-Log-Start"], response.headers["X-Log-End"]) == (str(start), str(stop))
    assert response.headers["X-Log-Complete"] == str(stop == len(TEXT)).lower()


def test_lines_never_reach_over_a_gap(api):
    number = logged([(STDOUT, b"%07d\n" % n) for n in range(8192)], cap=16_384)
    response = api.get(f"instances/{number}/log?lines=9999")
    first, after = map(int, api.get(f"instances/{number}/log").headers["X-Log-Dropped"].split("-"))
    assert response.headers["X-Log-End"] == str(first)
    assert api.get(f"instances/{number}/log?line=600&lines=1").content == b"%07d\n" % (after // 8)


@pytest.mark.parametrize("asked", ["line=1", "lines=2", "start=3", "start=0", "limit=5", "search=first"])
def test_range_beside_another_part_is_refused(api, address, problem, asked):
    told = problem(api.get(f"{address}?{asked}", headers={"Range": "bytes=0-4"}), 422)
    assert "and Range ask for different parts of the log; give one of them." in told["detail"]
    assert told["errors"][0]["field"] == "Range"


@pytest.mark.parametrize("headers", [{"Range": "lines=0-4"}, {"Range": "bytes=0-4", "If-Range": '"x"'}])
def test_range_that_is_not_answered_stands_in_no_way(api, address, headers):
    assert api.get(f"{address}?line=3", headers=headers).content == TEXT[19:]


@pytest.mark.parametrize("asked", ["line=1&start=1", "search=x&line=1", "lines=1&limit=5", "search=x&start=0"])
def test_parts_are_asked_for_in_one_way(api, address, problem, asked):
    problem(api.get(f"{address}?{asked}"), 422)


def test_attempts_have_a_log_each(api, problem):
    instance = make_instance(make_job(), "success")
    for number, text in enumerate((b"one", b"two"), 1):
        logged([(STDOUT, text)], number, instance)
    address = f"instances/{instance.pk}/log"
    assert [whole(api.get(f"{address}{query}")) for query in ("", "?attempt=1", "?attempt=2")] == [
        b"two",
        b"one",
        b"two",
    ]
    problem(api.get(f"{address}?attempt=3"), 404)


def test_instance_without_attempt_has_an_empty_log(api):
    instance = make_instance(make_job(), "queued")
    response = api.get(f"instances/{instance.pk}/log")
    assert (response.content, response.headers["X-Log-Complete"]) == (b"", "false")


async def test_big_log_is_not_held_in_memory(async_client, transactional_db, django_user_model):
    from asgiref.sync import sync_to_async

    user = await django_user_model.objects.acreate_user("ada")
    await async_client.aforce_login(user)
    size = 600_000
    number = await sync_to_async(logged)([(STDOUT, b"x" * size)])
    response = await async_client.get(f"/api/v1/instances/{number}/log")
    portions = [len(portion) async for portion in response.streaming_content]
    assert sum(portions) == size
    assert len(portions) > 1


def test_words_are_found_with_their_lines(api, address):
    assert api.get(f"{address}?search=SECOND").json() == {
        "matches": [{"line": 2, "text": "second \ufffd\x00\u20ac"}],
        "more": False,
    }
    assert api.get(f"{address}?search=nowhere").json() == {"matches": [], "more": False}


def test_search_tells_when_there_is_more(api):
    number = logged([(STDOUT, b"y\n" * 1500)])
    answer = api.get(f"instances/{number}/log?search=y").json()
    assert (len(answer["matches"]), answer["matches"][-1]["line"], answer["more"]) == (1000, 1000, True)


def test_search_for_nothing_is_refused(api, address, problem):
    (fault,) = problem(api.get(f"{address}?search="), 422)["errors"]
    assert (fault["field"], fault["expected"]) == ("search", "1 to 200 characters in a line")
    assert fault["detail"] == "'' is nothing to search for; expected 1 to 200 characters in a line."


def test_log_kept_no_longer_is_gone(api, address, settings):
    shutil.rmtree(settings.DATA_DIR / "runs")
    answer = api.get(address)
    assert (answer.status_code, answer.json()["detail"]) == (410, "Its output is not kept any more.")
