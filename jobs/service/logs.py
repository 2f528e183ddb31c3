"""The service's own log: a file that is rotated, and standard error for whoever started it."""

from __future__ import annotations

import logging
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path

MOST_BYTES = 5 * 1024 * 1024
OLD_FILES = 5
QUIET = {
    "daphne": logging.WARNING,
    "django.channels.server": logging.WARNING,
    "twisted": logging.WARNING,
    "axes": logging.WARNING,
    "django.request": logging.ERROR,
    "django.security.DisallowedHost": logging.CRITICAL,
}
FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


class LogFile(RotatingFileHandler):
    """A line that the disk refuses, full or broken, is let go: standard error has what matters of it, and need not have
    a traceback for each.
    """

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name that logging calls
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


def open_log(folder: Path) -> None:
    """Write from INFO on to `service.log` in `folder`, and from WARNING on to standard error."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = LogFile(folder / "service.log", maxBytes=MOST_BYTES, backupCount=OLD_FILES, encoding="utf-8")
    console = logging.StreamHandler()
    console.setLevel(logging.WARNING)
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    for handler in (file, console):
        handler.setFormatter(logging.Formatter(FORMAT))
        root.addHandler(handler)
    # One line per request and per socket, or per refused form, would bury what the scheduler says.
    for name, level in QUIET.items():
        logging.getLogger(name).setLevel(level)
