"""Modules that a warm launcher has loaded in advance, out of sight of a script until it imports them itself.

Nothing is found here: an import of the script goes its usual way (its own folder first, then the rest of sys.path) and
finds a file. Only when that file is to be run is it asked whether the very file, unchanged since, was run in advance.
If so its module is given instead, and what it imported then is imported now, in that order. So sys.modules holds what
it would hold, a module of the script's own that is called like one of the library's is its own, and an upgraded
package is the upgraded one. A function that a module registered for the exit is registered when the script imports it.

Standard library only, and nothing of it that is not in every Python from its start, `from __future__` neither: what
this imports would not be seen by the recorder that it is.
"""

import _frozen_importlib  # importlib itself is not loaded yet
import _frozen_importlib_external as files
import builtins
import sys

from jobs.execution.books import Book, Plan, folders_of, state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Step = Callable[..., Any]  # of any loader: takes a spec or a module, after the loader itself or alone

machinery: "Any" = _frozen_importlib  # what of it is used here is no part of its interface
STATIC_LOADERS = (machinery.BuiltinImporter, machinery.FrozenImporter)
LOADERS = (*STATIC_LOADERS, files.SourceFileLoader, files.ExtensionFileLoader)


def unseen(step: "Any") -> "Step":
    """As a step of Python's own import, which it leaves out of the tracebacks of errors that come of it."""
    step.__code__ = step.__code__.replace(co_filename="<frozen importlib._bootstrap_external>")
    return step  # type: ignore[no-any-return]  # it is what was given


class Recorder:
    """From its making to `shelf()`: takes down what every module does that is loaded."""

    def __init__(self, bare: list[str]) -> None:
        """`bare`: names of the modules that every Python has from its start."""
        self._bare = frozenset(bare)
        self._books: dict[str, Book] = {}
        self._running: list[str] = []
        self._loaders = [(loader, loader.create_module, loader.exec_module) for loader in LOADERS]
        for loader, create, execute in self._loaders:
            patch(loader, self._during(create), self._during(execute))
        self._import = builtins.__import__
        builtins.__import__ = self._importing
        import atexit

        self._atexit, self._register = atexit, atexit.register
        atexit.register = self._registering  # type: ignore[assignment]  # a wrapper of it

    def shelf(self) -> "Shelf":
        """Stop recording."""
        builtins.__import__ = self._import
        self._atexit.register = self._register
        for loader, create, execute in self._loaders:
            patch(loader, create, execute)
        kept = {name: book for name, book in self._books.items() if name not in self._bare and put(book, name)}
        return Shelf(self._bare, kept)

    def _during(self, step: "Step") -> "Step":
        def wrapped(*args: "Any") -> "Any":
            spec = getattr(args[-1], "__spec__", args[-1])
            self._running.append(spec.name)
            before = sys.modules.copy()
            try:
                return step(*args)
            finally:
                self._running.pop()
                self._note_aliases(self._books.setdefault(spec.name, Book()), before)

        return wrapped

    def _note_aliases(self, book: Book, before: "Mapping[str, Any]") -> None:
        for name, module in sys.modules.items():
            if not (name in before or name in self._books or any(name in one.aliases for one in self._books.values())):
                book.aliases[name] = module

    def _importing(
        self,
        name: str,
        globals: "Mapping[str, Any] | None" = None,  # noqa: A002 named as by __import__
        locals: "Mapping[str, Any] | None" = None,  # noqa: A002 as above
        fromlist: "Sequence[str] | None" = (),
        level: int = 0,
    ) -> "Any":
        module = self._import(name, globals, locals, fromlist, level)
        if self._running:
            base = name
            if level:
                package = machinery._calc___package__(globals)
                base = machinery._resolve_name(name, package, level)
            needs = self._books.setdefault(self._running[-1], Book()).needs
            for needed in (base, *(f"{base}.{item}" for item in fromlist or ())):
                if needed in sys.modules:
                    needs[needed] = sys.modules[needed]
        return module

    def _registering(self, function: "Any", *args: "Any", **keywords: "Any") -> "Any":
        if self._running:
            book = self._books.setdefault(self._running[-1], Book())
            book.at_exit.append((function, args, keywords))
        return self._register(function, *args, **keywords)


def put(book: Book, name: str) -> bool:
    """Complete `book`. False if it cannot be given: it has put something else in its place, or its file is gone."""
    book.module = sys.modules.get(name)
    spec = getattr(book.module, "__spec__", None)
    if spec is None or spec.name != name or name == "jobs" or name.startswith("jobs.execution"):
        return False
    book.origin, book.stamp = spec.origin, state(spec.origin)
    return book.stamp is not None


class Shelf:
    def __init__(self, bare: frozenset[str], books: dict[str, Book]) -> None:
        self.bare = bare
        self._books = books
        self._given: dict[str, tuple[Any, int]] = {}  # module and how many names it had

    def begin(self, path: list[str]) -> None:
        """From now on what is imported anew comes from here. `path`: sys.path after a script's own folder."""
        import atexit

        atexit._clear()
        self._register = atexit.register
        self._ways = (list(path), list(sys.meta_path), list(sys.path_hooks), *map(state, path))
        self._note_packages()
        self.hide()
        for book in self._books.values():
            book.size = len(vars(book.module))
        for name in self.bare & sys.modules.keys() - {"sys", "builtins", "__main__"}:
            self._given[name] = (sys.modules[name], len(vars(sys.modules[name])))
        for loader in LOADERS:
            patch(loader, self._creating(loader.create_module), loader.exec_module)

    def _note_packages(self) -> None:
        modules = {**sys.modules, **{name: book.module for name, book in self._books.items()}}
        self._folders = {name: folders for name, module in modules.items() if (folders := folders_of(module))}
        for name, book in self._books.items():
            package, _, child = name.rpartition(".")
            if package in self._books and (other := vars(modules[package]).get(child, book.module)) is not book.module:
                self._books[package].others[child] = other

    def hide(self) -> None:
        """Not a trace of what was imported. What has its modules already can go on with them."""
        imported = [name for name in sys.modules if name not in self.bare]
        for attributes, child in [place for name in imported if (place := attribute_of(name, sys.modules[name]))]:
            attributes.pop(child, None)
        for name in imported:
            del sys.modules[name]

    def untouched(self) -> list[str]:
        """Of the modules that a script has and did not load itself those to which it has added no name."""
        children: dict[str, int] = {}
        for name in sys.modules.keys() - self.bare:
            parent = name.rpartition(".")[0]
            children[parent] = children.get(parent, 0) + 1
        given = [(name, *pair) for name, pair in self._given.items()]
        return [name for name, module, size in given if len(vars(module)) <= size + children.get(name, 0)]

    def _creating(self, create: "Step") -> "Step":
        def creating(*args: "Any") -> "Any":
            spec = args[-1]
            book = self._books.get(spec.name)
            if book and book.stamp == state(spec.origin) and spec.loader in (args[0], *STATIC_LOADERS):
                spec.loader = Giver(spec.loader, book, self._give)
                return book.module
            return create(*args)

        return unseen(creating)

    def _give(self, book: Book) -> bool:
        """Do again what it did when it was run. False if it would get other modules today."""
        name = book.module.__spec__.name
        if self._books.pop(name, None) is not book:  # it was given already: only once, since a reload is one
            return False
        self._given[name] = (book.module, book.size)
        self._give_at_once(book)
        try:
            for needed in book.needs:
                if needed not in sys.modules:
                    machinery._gcd_import(needed)
        except Exception:  # noqa: BLE001 whatever it is: run, the module fails at its own line, not at ours
            return False
        if any(sys.modules.get(needed) is not module for needed, module in book.needs.items()):
            return False
        sys.modules.update(book.aliases)
        self._finish(book)
        return True

    def _give_at_once(self, book: Book) -> None:
        """Give all that `book` needs where it is sure that an import of each would find just that; else nothing."""
        if (sys.path[1:], sys.meta_path, sys.path_hooks, *map(state, sys.path[1:])) != self._ways:
            return
        plan = Plan(self._books, self._folders, sys.path[0])
        if not plan.fits(book):
            return
        for name, given in plan.begun.items():
            del self._books[name]
            self._given[name] = (given.module, given.size)
            sys.modules[name] = given.module
            sys.modules.update(given.aliases)
        for name, given in plan.done:
            parent, _, child = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], child, given.module)
            self._finish(given)

    def _finish(self, book: Book) -> None:
        if book.others:  # to look costs a page
            vars(book.module).update(book.others)
        for function, args, keywords in book.at_exit:
            self._register(function, *args, **keywords)


class Giver:
    """Stands in for the loader of one module while that is given. Those of all others go on without us: a frame of ours
    below them would be in every traceback of what they raise, and take their warnings upon itself.
    """

    def __init__(self, loader: "Any", book: Book, give: "Callable[[Book], bool]") -> None:
        self._loader = loader
        self._book = book
        self._give = give

    def create_module(self, _spec: object) -> "Any":
        return self._book.module

    @unseen
    def exec_module(self, module: "Any") -> None:
        module.__spec__.loader = self._loader
        if not self._give(self._book):
            self._loader.exec_module(module)


def attribute_of(name: str, module: object) -> "tuple[dict[str, Any], str] | None":
    """Where the import of a module of a package has put it: the package's attributes, and its name there."""
    parent, _, child = name.rpartition(".")
    attributes = getattr(sys.modules.get(parent), "__dict__", {})
    return (attributes, child) if parent and attributes.get(child) is module else None


def patch(loader: "Any", create: "Step", execute: "Step") -> None:
    static = loader in STATIC_LOADERS
    loader.create_module = staticmethod(create) if static else create
    loader.exec_module = staticmethod(execute) if static else execute
