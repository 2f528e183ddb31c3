"""A value as programs, shells and markup write it, and the password that is in an address. Standard library only, and
little of it: each runner has it loaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

# What bash puts a backslash before: within double quotes, and where there are none (`printf %q`, `set -x`).
IN_DOUBLE_QUOTES = re.compile(r'([$`"\\])')
WITHOUT_QUOTES = re.compile(r"""([ \t"'\\|&;()<>!{}*\[\]?^$`,]|\A[#~])""")
# Within $'...', as bash quotes control characters and, where LANG is C, all letters beyond ASCII.
BY_LETTER = {ord(one): f"\\{letter}" for one, letter in zip("\a\b\t\n\v\f\r\x1b'\\", "abtnvfrE'\\", strict=True)}
IN_ANSI_QUOTES = {one: f"\\{one:03o}" for one in (*range(32), 127)} | BY_LETTER
BYTES_BY_NUMBER = {one: f"\\{one:03o}" for one in range(128, 256)}
IN_HTML_PAGES = re.compile("[<>&]")  # JSON that may stand in one has them by number
BY_NUMBER = re.compile(r"\\u[0-9a-f]{4}")
BLANKS = re.compile(r"[\t\n\r]")  # by number in an attribute
APOSTROPHES = ("&#39;", "&#x27;", "&apos;")
PASSWORD_IN_ADDRESS = re.compile(r"://[^\s:/@]*:(\S+)@")
PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
LEAST_PASSWORD, LEAST_VARIETY = 6, 3  # as of a secret by itself: what is less is in too much that is printed


def in_code(text: str) -> Iterator[str]:
    """In quotes, from after the first to before the last: JSON, also as a text in other JSON, Python, SQL and CSV."""
    for plain in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield IN_HTML_PAGES.sub(lambda one: f"\\u{ord(one[0]):04X}", plain)
        for written in (
            plain,
            plain.replace("/", "\\/"),
            IN_HTML_PAGES.sub(lambda one: f"\\u{ord(one[0]):04x}", plain),
        ):
            yield written
            yield BY_NUMBER.sub(lambda one: f"\\u{one[0][2:].upper()}", written)
        yield from (json.dumps(plain, ensure_ascii=False)[1:-1], repr(plain)[1:-1])
    for own in (repr(text)[1:-1], ascii(text)[1:-1]):
        yield from (own, json.dumps(own, ensure_ascii=False)[1:-1], repr(own)[1:-1])
    yield text.encode("ascii", "backslashreplace").decode()
    yield from (text.replace(one, 2 * one) for one in "'\"")


def in_shells(text: str) -> Iterator[str]:
    """In quotes, from after the first to before the last, or without."""
    yield text.replace("'", "'\\''")
    yield text.replace("'", "'\"'\"'")  # dash, and Python's shlex
    yield IN_DOUBLE_QUOTES.sub(r"\\\1", text)
    yield WITHOUT_QUOTES.sub(r"\\\1", text)
    yield text.translate(IN_ANSI_QUOTES)
    yield text.encode().decode("latin-1").translate(IN_ANSI_QUOTES | BYTES_BY_NUMBER)


def in_markup(text: str) -> Iterator[str]:
    """HTML and XML, as a text and in an attribute."""
    yield (escaped := text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    for quotes in ("&quot;", "&#34;"):
        attribute = escaped.replace('"', quotes)
        for written in (attribute, *(attribute.replace("'", apostrophe) for apostrophe in APOSTROPHES)):
            yield written
            yield BLANKS.sub(lambda one: f"&#{ord(one[0])};", written)


def passwords_in(text: str) -> Iterator[str]:
    """Of an address such as postgres://user:password@host: programs take it apart, and tell what they connect with."""
    found = PASSWORD_IN_ADDRESS.search(text)
    if found is None or len(found[1]) < LEAST_PASSWORD or len(set(found[1])) < LEAST_VARIETY:
        return
    yield found[1]
    yield PERCENT.sub(lambda one: bytes([int(one[1], 16)]), found[1].encode()).decode("utf-8", "replace")
