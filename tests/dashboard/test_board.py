import json

from dashboard.live.board import Board


def board_with(*puts):
    board = Board("overview")
    for regions in puts:
        board.put(regions, "e:1")
    return board


def frame(board, version, board_id=None):
    text = board.since(board.id if board_id is None else board_id, version)
    return json.loads(text)["regions"] if text else None


def test_page_with_nothing_gets_everything():
    board = board_with({"running": [("a", "<li>1"), ("b", "<li>2")]})
    assert frame(board, 0) == {"running": {"order": ["a", "b"], "rows": {"a": "<li>1", "b": "<li>2"}}}


def test_page_at_latest_version_gets_nothing():
    board = board_with({"running": [("a", "1")]})
    assert frame(board, board.version) is None


def test_only_changed_rows_are_sent():
    board = board_with({"running": [("a", "1"), ("b", "2")]}, {"running": [("a", "1"), ("b", "3")]})
    assert frame(board, 1) == {"running": {"rows": {"b": "3"}}}


def test_row_that_left_is_told_by_order_alone():
    board = board_with({"running": [("a", "1"), ("b", "2")]}, {"running": [("b", "2")]})
    assert frame(board, 1) == {"running": {"order": ["b"]}}


def test_row_that_came_back_is_sent_again():
    board = board_with({"r": [("a", "1")]}, {"r": []}, {"r": [("a", "1")]})
    assert frame(board, 2) == {"r": {"order": ["a"], "rows": {"a": "1"}}}


def test_region_that_became_empty_is_told():
    board = board_with({"r": [("a", "1")], "s": []}, {"r": []})
    assert frame(board, 1) == {"r": {"order": []}}


def test_slow_page_gets_the_sum_of_changes():
    board = board_with(
        {"r": [("a", "1"), ("b", "1")]}, {"r": [("a", "2"), ("b", "1")]}, {"r": [("a", "3"), ("b", "2")]}
    )
    assert frame(board, 1) == {"r": {"rows": {"a": "3", "b": "2"}}}


def test_same_rows_again_change_nothing():
    board = board_with({"r": [("a", "1")]})
    assert not board.put({"r": [("a", "1")]}, "e:9")
    assert frame(board, 1) is None


def test_version_of_another_life_counts_as_none():
    board = board_with({"r": [("a", "1")]}, {"r": [("a", "2")]})
    assert frame(board, 2, board_id="gone") == frame(board, 0)


def test_sockets_at_one_version_share_one_string():
    board = board_with({"r": [("a", "1")]})
    assert board.since(board.id, 0) is board.since(board.id, 0)


def test_unread_region_is_not_touched_by_another():
    board = board_with({"r": [("a", "1")]}, {"s": [("b", "1")]})
    assert frame(board, 1) == {"s": {"order": ["b"], "rows": {"b": "1"}}}
