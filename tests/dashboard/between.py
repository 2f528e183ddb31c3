"""What others do between two queries of one answer."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from django.db import connection


class Moving:
    """Has `move` made once, after the query of which `when` says so, which is asked with its text and values."""

    def __init__(self, when: Callable[[str, Any], bool], move: Callable[[], object]) -> None:
        self.moved = False
        self._when = when
        self._move = move
        self._depth = len(connection.savepoint_ids)

    def during(self) -> AbstractContextManager[None]:
        return connection.execute_wrapper(self._between)

    def _between(self, execute: Callable[..., Any], sql: str, params: Any, *rest: Any) -> Any:
        answer = execute(sql, params, *rest)
        in_transaction = len(connection.savepoint_ids) > self._depth  # whose rows nobody else can change
        if not self.moved and not in_transaction and self._when(sql, params):
            self.moved = True
            self._move()
        return answer
