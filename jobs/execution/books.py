"""What is known of each module on the shelf (shelf.py), and what can be given at once because an import would find just
that. Standard library only, and nothing of it that is not in every Python from its start: see there.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Stamp = tuple[object, ...]


class Book:
    """A module on the shelf. `needs`: modules that it imported when it was run, by name; `aliases`: other names that it
    gave to modules; `at_exit`: (function, arguments, keywords) that it registered; `others`: what
    a package has under the name of a module of its own; `size`: how many names it has.
    """

    def __init__(self) -> None:
        self.module: Any = None
        self.origin: str | None = None
        self.stamp: Stamp | None = None
        self.needs: dict[str, Any] = {}
        self.aliases: dict[str, Any] = {}
        self.at_exit: list[tuple[Any, Any, Any]] = []
        self.others: dict[str, Any] = {}
        self.size = 0


class Plan:
    """What is to be given with a book: `begun` in the order in which imports would begin, `done` as they would end."""

    def __init__(self, books: "Mapping[str, Book]", folders: "Mapping[str, object]", own: str) -> None:
        """`folders`: of packages, as they were; `own`: that of the script, whose modules come first."""
        self._books = books
        self._folders = folders
        self._own = {name.partition(".")[0] for name in os.listdir(own)}  # noqa: PTH208 pathlib costs start-up
        self._aliases: dict[str, Any] = {}
        self._fitting: dict[str, bool] = {"": True}
        self.begun: dict[str, Book] = {}
        self.done: list[tuple[str, Book]] = []

    def fits(self, book: Book) -> bool:
        return all(self._has(name, module) or self._adds(name, module) for name, module in book.needs.items())

    def _has(self, name: str, module: object) -> bool:
        if name in self.begun:
            return self.begun[name].module is module
        return self._aliases.get(name, sys.modules.get(name)) is module

    def _adds(self, name: str, module: object) -> bool:
        book, package = self._books.get(name), name.rpartition(".")[0]
        if book is None or book.module is not module or name in sys.modules or name in self._own:
            return False
        if not self._package_fits(package) or book.stamp != state(book.origin):
            return False
        if name in self.begun:  # by its package
            return True
        self.begun[name] = book
        if not self.fits(book):
            return False
        self._aliases.update(book.aliases)
        self.done.append((name, book))
        return True

    def _package_fits(self, name: str) -> bool:
        if name not in self._fitting:
            book = self._books.get(name)
            module = book.module if book else sys.modules.get(name)
            there = self._has(name, module) or self._adds(name, module)
            self._fitting[name] = there and folders_of(module) == self._folders.get(name)
        return self._fitting[name]


def folders_of(module: "Any") -> "list[Stamp | None]":
    """Of a package, the places of its modules."""
    return list(map(state, getattr(module, "__path__", ())))


def state(origin: str | None) -> "Stamp | None":
    """Tells a file or folder from a later one at the same place, None if it is gone; modules of the interpreter itself
    have no file.
    """
    if origin is None or not origin.startswith("/"):
        return (origin,)
    try:
        found = os.stat(origin)  # noqa: PTH116 pathlib costs start-up
    except OSError:
        return None
    return (origin, found.st_mtime_ns, found.st_size, found.st_ino)
