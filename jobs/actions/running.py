"""What a job says about how its processes are run: read, and checked as far as it can be without the node."""

from __future__ import annotations

import re

from jobs.actions.reading import Reader, shown
from jobs.core.running import USUAL_RUN, CleanupAfter, IoPriority, RunOptions, StartMethod

MOST_PROCESSES = 4_194_304  # what Linux can number
MOST_FILE_MB = 2_147_483_647
UMASK = re.compile(r"[0-7]{3}|0[0-7]{3}")
# As useradd of shadow has it, which is more than adduser makes by itself: first.last, Anna, name@domain. Which of them
# there are, the node knows. A number is none of them: a process needs its user's groups and home too.
USER = re.compile(r"(?![-+~]|\.{1,2}$|\d+$)[^\s:/,]+")
USER_EXPECTED = "the name of a user as the node knows it, such as www-data (not its number)"


def read_run_options(reader: Reader) -> RunOptions:
    return RunOptions(
        start=reader.choice("start", StartMethod.AUTO.value, [method.value for method in StartMethod]),
        working_directory=_read_directory(reader),
        run_as=_matching(reader, "run_as", USER, 32, USER_EXPECTED),
        umask=(_matching(reader, "umask", UMASK, 4, "three octal digits, such as 027") or USUAL_RUN.umask)[-3:],
        nice=reader.whole("nice", 0, lowest=-20, highest=19),
        io_priority=reader.choice("io_priority", IoPriority.NORMAL.value, [priority.value for priority in IoPriority]),
        max_processes=reader.whole("max_processes", None, lowest=1, highest=MOST_PROCESSES),
        max_file_mb=reader.whole("max_file_mb", None, lowest=1, highest=MOST_FILE_MB),
        cleanup_command=reader.text("cleanup_command", longest=100_000, lines=True).replace("\r\n", "\n").strip(),
        cleanup_after=_read_ends(reader),
        cleanup_timeout_seconds=reader.seconds("cleanup_timeout_seconds", 60.0, zero=False),
    )


def _read_directory(reader: Reader) -> str:
    directory = reader.text("working_directory", longest=1000)
    if directory and not directory.startswith("/"):
        reader.expected("working_directory", "an absolute path, which begins with /")
    return directory


def _matching(reader: Reader, field: str, rule: re.Pattern[str], longest: int, expected: str) -> str:
    text = reader.text(field, longest=longest)
    if text and not rule.fullmatch(text):
        reader.expected(field, expected)
    return text


def _read_ends(reader: Reader) -> tuple[str, ...]:
    """Those named, in their own order; all of them when none is said."""
    known = [end.value for end in CleanupAfter]
    given = reader.texts("cleanup_after", most=len(known), longest=20) or tuple(known)
    for end in given:
        if end not in known:
            sentence = f"cleanup_after: {shown(end)} is no end of an attempt; expected some of {', '.join(known)}."
            reader.refuse("cleanup_after", f"some of {', '.join(known)}", sentence)
    return tuple(end for end in known if end in given)
