"""A launcher that also starts scripts warm: it loads in advance what they often import, whenever it has nothing to do.

Only modules that do the same whoever imports them and whenever: none that starts a thread, draws a secret
(multiprocessing), keeps the host's name (platform, uuid) or reads a variable that a job may set. Standard library only.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from json import decoder
from typing import NoReturn

from jobs.execution import fresh, launcher
from jobs.execution.shelf import Recorder
from jobs.execution.titles import set_titles

MODULES = """
    argparse ast asyncio base64 bisect bz2 calendar collections.abc concurrent.futures.thread configparser contextlib
    copy csv ctypes dataclasses datetime decimal difflib email.message email.mime.multipart email.mime.text enum
    fnmatch fractions functools getpass glob gzip hashlib heapq hmac html http.client http.cookiejar importlib.metadata
    importlib.util inspect io itertools json locale logging.handlers lzma math operator pathlib pickle pprint queue
    random re secrets select selectors shlex shutil signal smtplib socket sqlite3 ssl statistics string struct
    subprocess tarfile tempfile textwrap threading time timeit traceback types typing unicodedata urllib.error
    urllib.parse urllib.request warnings weakref xml.etree.ElementTree zipfile zlib zoneinfo
"""

VERSIONS = ((3, 11), (3, 12))
UNFIT = "is not started warm, only 3.11 and 3.12 are"  # a later one cannot be ended where a thread has forked


def main(fd: int, recorder: Recorder, path: list[str], wished: list[str]) -> NoReturn:
    """As that of the launcher. `path`: sys.path as the interpreter made it; `wished`: more modules to load."""
    places = shaping(path)
    known = list(map(state, places))
    launcher.main(fd, loading(recorder, path, wished), lambda: list(map(state, places)) != known)


def loading(recorder: Recorder, path: list[str], wished: list[str]) -> Iterator[None]:
    """When it is through, scripts may start warm."""
    if why := why_never():
        fresh.lacking = why
        return
    fresh.lacking = "the warm launcher had only just begun"
    sys.dont_write_bytecode = True  # a __pycache__ that is made among the packages would look like one of them
    for name in MODULES.split():
        load(name, loud=False)  # a Python may be built without one
        yield
    fresh.end_here()
    for name in wished:
        load(name, loud=True)
        if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 pathlib costs start-up
            fresh.lacking = f"{name}, loaded in advance, has started a thread, and a fork has none of them"
            return
        yield
    sys.dont_write_bytecode = False
    shelf = recorder.shelf()
    fresh.note(path, shelf)
    shelf.begin(path[1:])
    sys.modules["json.decoder"] = decoder  # C looks its error up there, for what a job tells in broken JSON
    gc.collect()
    gc.freeze()


def load(name: str, *, loud: bool) -> None:
    try:
        __import__(name)
    except Exception as error:  # noqa: BLE001 it is not ours: the script that imports it will see
        if loud:
            print(f"{name} is not loaded in advance: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201 a log


def why_never() -> str:
    if sys.version_info[:2] not in VERSIONS:
        return f"Python {sys.version_info[0]}.{sys.version_info[1]} {UNFIT}"
    try:
        set_titles(sys.orig_argv, os.environ)
    except OSError as error:
        return f"this kernel lets no process say what it is: {error.strerror}"
    return ""


def shaping(path: list[str]) -> list[str]:
    """Files and folders of which one is another, or is changed, when something was installed: the interpreter, its
    virtual environment, a package. A .pth file may also be written over, which does not show in its folder.
    """
    site = sys.modules.get("site")
    own = [site.USER_SITE] if site and site.ENABLE_USER_SITE and site.USER_SITE not in path else []  # may come to be
    folders = [*path[1:], *own]
    custom = [getattr(sys.modules.get(name), "__file__", None) for name in ("sitecustomize", "usercustomize")]
    lines = [f"{folder}/{name}" for folder in folders if os.path.isdir(folder)  # noqa: PTH112 pathlib costs start-up
             for name in os.listdir(folder) if name.endswith(".pth")]  # fmt: skip # noqa: PTH208 as above
    return [sys.executable, f"{sys.prefix}/pyvenv.cfg", *folders, *lines, *filter(None, custom)]


def state(place: str) -> tuple[int, int] | None:
    try:
        found = os.stat(place)  # noqa: PTH116 pathlib costs start-up
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino
