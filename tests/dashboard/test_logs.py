import json

import pytest

from dashboard.live.logs import FRAME_BYTES, MOST_BEHIND, LogCursor, LogPlace, LogTail
from tests.dashboard.outputs import finish, printed, writing


@pytest.fixture
def tail(tmp_path):
    tail = LogTail("log:7")
    tail.place = LogPlace(1, tmp_path)
    return tail


def next_frame(tail, cursor):
    tail.read({cursor})
    found = tail.after(cursor)
    return (json.loads(found[0]), found[1]) if found else (None, cursor)


def test_nothing_before_the_first_attempt():
    tail = LogTail("log:7")
    assert not tail.read({LogCursor()})
    assert tail.after(LogCursor()) is None


def test_new_bytes_follow_where_the_page_is(tail, tmp_path):
    with writing(tmp_path) as write:
        write(b"one\n")
        frame, cursor = next_frame(tail, LogCursor(1, 0))
        write(b"two\n")
        assert frame["text"] == "one\n"
        assert next_frame(tail, cursor)[0]["text"] == "two\n"


def test_page_that_has_all_gets_nothing(tail, tmp_path):
    printed(tmp_path, b"one\n")
    assert next_frame(tail, LogCursor(1, 4))[0] is None


def test_end_is_told_once(tail, tmp_path):
    printed(tmp_path, b"one\n")
    finish(tmp_path, 4)
    frame, cursor = next_frame(tail, LogCursor(1, 4))
    assert frame["complete"]
    assert frame["text"] == ""
    assert next_frame(tail, cursor)[0] is None


def test_another_attempt_begins_at_its_first_byte(tail, tmp_path):
    printed(tmp_path, b"second run\n")
    tail.place = LogPlace(2, tmp_path)
    frame, cursor = next_frame(tail, LogCursor(1, 4, complete=True))
    assert (frame["attempt"], frame["start"], frame["text"]) == (2, 0, "second run\n")
    assert cursor == LogCursor(2, 11)


@pytest.mark.parametrize("cut", range(1, 13))
def test_character_is_never_cut(tail, tmp_path, cut):
    text = "żółw€🚀".encode()
    with writing(tmp_path) as write:
        write(text[:cut])
        first, cursor = next_frame(tail, LogCursor(1, 0))
        write(text[cut:])
        rest, _ = next_frame(tail, cursor)
    assert ((first or {"text": ""})["text"] + (rest or {"text": ""})["text"]) == "żółw€🚀"


def test_frame_has_at_most_its_size(tail, tmp_path):
    printed(tmp_path, b"x" * (FRAME_BYTES + 10))
    frame, cursor = next_frame(tail, LogCursor(1, 0))
    assert frame["end"] == FRAME_BYTES
    assert next_frame(tail, cursor)[0]["text"] == "x" * 10


def test_page_far_behind_gets_the_end_and_is_told(tail, tmp_path):
    size = MOST_BEHIND + 500_000
    printed(tmp_path, b"y\n" * (size // 2))
    frame, cursor = next_frame(tail, LogCursor(1, 0))
    assert frame["skipped"] == frame["start"] == size - FRAME_BYTES
    assert cursor.offset == size


def test_pages_in_step_share_one_string(tail, tmp_path):
    printed(tmp_path, b"one\n")
    tail.read({LogCursor(1, 0), LogCursor(1, 0)})
    assert tail.after(LogCursor(1, 0)) is tail.after(LogCursor(1, 0))
