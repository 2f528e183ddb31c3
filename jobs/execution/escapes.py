"""A value as shells and markup write it, and the password that is in an address. Standard library only, and little of
it: each runner has it loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# What bash puts a backslash before: within double quotes, and where there are none (`printf %q`, `set -x`).
IN_DOUBLE_QUOTES = re.compile(r'([$`"\\])')
WITHOUT_QUOTES = re.compile(r"""([ \t"'\\|&;()<>!{}*\[\]?^$`,]|\A[#~])""")
APOSTROPHES = ("&#39;", "&#x27;", "&apos;")
PASSWORD_IN_ADDRESS = re.compile(r"://[^\s:/@]*:(\S+)@")
PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
LEAST_PASSWORD, LEAST_VARIETY = 6, 3  # as of a secret by itself: what is less is in too much that is printed


def in_shells(text: str) -> Iterator[str]:
    """In quotes, from after the first to before the last, or without."""
    yield text.replace("'", "'\\''")
    yield text.replace("'", "'\"'\"'")  # dash, and Python's shlex
    yield IN_DOUBLE_QUOTES.sub(r"\\\1", text)
    yield WITHOUT_QUOTES.sub(r"\\\1", text)


def in_markup(text: str) -> Iterator[str]:
    """HTML and XML, as a text and in an attribute."""
    yield (escaped := text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    for quotes in ("&quot;", "&#34;"):
        attribute = escaped.replace('"', quotes)
        yield attribute
        yield from (attribute.replace("'", apostrophe) for apostrophe in APOSTROPHES)


def passwords_in(text: str) -> Iterator[str]:
    """Of an address such as postgres://user:password@host: programs take it apart, and tell what they connect with."""
    found = PASSWORD_IN_ADDRESS.search(text)
    if found is None or len(found[1]) < LEAST_PASSWORD or len(set(found[1])) < LEAST_VARIETY:
        return
    yield found[1]
    yield PERCENT.sub(lambda one: bytes([int(one[1], 16)]), found[1].encode()).decode("utf-8", "replace")
