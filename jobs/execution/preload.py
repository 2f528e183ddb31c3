"""A launcher that also starts scripts warm: it loads in advance what they often import, whenever it has nothing to do.

Only modules that do the same whoever imports them and whenever: none that starts a thread, draws a secret
(multiprocessing), keeps the host's name (platform, uuid) or reads a variable that a job may set. Standard library only.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import suppress

from jobs.execution import fresh, launcher
from jobs.execution.shelf import Recorder

MODULES = """
    argparse ast asyncio base64 bisect bz2 calendar collections.abc concurrent.futures.thread configparser contextlib
    copy csv ctypes dataclasses datetime decimal difflib email.message email.mime.multipart email.mime.text enum
    fnmatch fractions functools getpass glob gzip hashlib heapq hmac html http.client http.cookiejar importlib.metadata
    importlib.util inspect io itertools json locale logging.handlers lzma math operator pathlib pickle pprint queue
    random re secrets select selectors shlex shutil signal smtplib socket sqlite3 ssl statistics string struct
    subprocess tarfile tempfile textwrap threading time timeit traceback types typing unicodedata urllib.error
    urllib.parse urllib.request warnings weakref xml.etree.ElementTree zipfile zlib zoneinfo
"""


def main(fd: int, recorder: Recorder, path: list[str]) -> None:
    """As that of the launcher. `path`: sys.path as the interpreter made it."""
    launcher.main(fd, loading(recorder, path))


def loading(recorder: Recorder, path: list[str]) -> Iterator[None]:
    for name in MODULES.split():
        with suppress(ImportError):  # a Python may be built without one
            __import__(name)
        yield
    fresh.note(path, recorder.shelf())
    gc.collect()
    gc.freeze()
