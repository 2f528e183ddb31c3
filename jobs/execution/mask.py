"""Hides the values of secrets in what a job prints. Standard library only.

Looked for are the value as it is, as a URL, code, markup or a shell writes it, in hexadecimal digits, in base64
wherever it begins in a longer text, the password of an address, and, of a value of several lines, each line that says
something. All bytes that belong to any of these are replaced, by one MASK for what overlaps. A program that turns its
secret round, or prints it letter by letter with others between, gets it past this: it is a help against accidents, not
a wall.

A stream is masked as it comes, however it is cut: what is told of it, put together, is the whole masked at once. For
that the end of what came last is held back for as long as it may be the beginning of a value, at most one byte less
than the longest form, with no limit of time: values begin with no line break, so this is the end of a line that is not
complete, and it is told with what comes next or when the stream ends.
"""

from __future__ import annotations

import math
import re
from binascii import b2a_base64
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import NamedTuple

from jobs.execution import masking
from jobs.execution.escapes import in_code, in_markup, in_shells, passwords_in

MASK = masking.MASK.encode()
LEAST_LINE = 8  # characters of a line, of several, that is a secret by itself
WORD = 4  # bytes
ALONE = 1 / 30  # what it costs to look for one form, of what it costs to look at all words of what has come
MOST_WORDS = 16_384  # of forms: to note them costs as much as to look for them in a few megabytes
LITTLE = 65_536  # bytes, before which it costs more to see which words there are than to look for each form
HEAD = 8
BASE64_LINE = 57  # bytes that a line of base64 stands for
LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")
IN_CAPITALS = re.compile(rb"%[0-9A-F]{2}")  # some write it small
SAFE_IN_URLS = (LETTERS, LETTERS | set(b"/"), LETTERS | set(b"!'()*"))  # as Python's quote and JavaScript's have it


class Tail(NamedTuple):
    """The end of a stream that is held back; of it, how many bytes at the start are told already, by a mask."""

    data: bytes = b""
    masked: int = 0


class Mask:
    """Of one attempt."""

    def __init__(self, values: Iterable[str]) -> None:
        self._forms = sorted({form for value in values for form in forms_of(value) if form}, key=len)
        self._in_forms = frozenset(b"".join(form[:-1] for form in self._forms))
        self._seen = 0
        self._tails: dict[Hashable, Tail] = {}

    @cached_property
    def _words(self) -> Words:
        return Words(self._forms)

    @cached_property
    def _beginnings(self) -> frozenset[bytes]:
        return frozenset(form[:size] for form in self._forms for size in range(1, min(HEAD, len(form))))

    def stream(self, stream: Hashable, data: bytes) -> bytes:
        """What of `stream` may be told now, after `data` has come."""
        if not self._forms:
            return data
        tail = self._tails.get(stream, Tail())
        data = tail.data + data
        told, self._tails[stream] = self._tell(data, tail.masked, len(data) - self._begun(data))
        return told

    def flush(self, stream: Hashable) -> bytes:
        """The rest of `stream`, which has ended or begins anew."""
        tail = self._tails.pop(stream, Tail())
        return self._tell(tail.data, tail.masked, len(tail.data))[0]

    def whole(self, data: bytes) -> bytes:
        return self._tell(data, 0, len(data))[0]

    def text(self, text: str) -> str:
        return self.whole(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def _tell(self, data: bytes, masked: int, cut: int) -> tuple[bytes, Tail]:
        """The first `cut` bytes with masks, and the rest. Of `data` the first `masked` bytes are told."""
        told: list[bytes] = []
        end = masked
        for start, stop in self._found(data):
            if start >= cut:
                break
            if start >= end:
                told += (data[end:start], MASK)
            end = max(end, stop)
        told.append(data[end:cut])
        return b"".join(told), Tail(data[cut:], max(0, end - cut))

    def _found(self, data: bytes) -> list[tuple[int, int]]:
        """(start, end) of every form, overlapping ones too, in order."""
        found = []
        for form in self._candidates(data):
            at = data.find(form)
            while at >= 0:
                found.append((at, at + len(form)))
                at = data.find(form, at + 1)
        return sorted(found)

    def _candidates(self, data: bytes) -> Iterable[bytes]:
        """Forms among which are all that are in `data`."""
        self._seen += len(data)
        return self._forms if self._seen < LITTLE else self._words.candidates(data)

    def _begun(self, data: bytes) -> int:
        """How many bytes at the end may be the beginning of a form, whose rest is still to come."""
        begun = 0
        if not data or data[-1] not in self._in_forms:
            return begun
        end = data[-HEAD:]
        for form in [form for form in self._forms if end in form and len(form) > HEAD]:
            head, at = form[:HEAD], max(0, len(data) - len(form) + 1)
            while len(data) - at > begun and (at := data.find(head, at)) >= 0:
                if form.startswith(data[at:]):
                    begun = max(begun, len(data) - at)
                    break
                at += 1
        sizes = range(min(HEAD - 1, len(data)), begun, -1)
        return next((size for size in sizes if data[-size:] in self._beginnings), begun)


class Words:
    """By which a flood costs nearly the same for one secret and for all that a job may have.

    Wherever a form lies, one of its first words is among every so manieth of the words into which what has come is cut:
    the longer the shortest form is, the fewer have to be looked at. A few that are shorter are looked for one by one.
    """

    def __init__(self, forms: Sequence[bytes]) -> None:
        """forms: the shortest first."""

        def cost(alone: int) -> float:
            stride = stride_for(forms, alone) if alone < len(forms) else math.inf
            return alone * ALONE + 1 / stride if stride else math.inf

        alone = min(range(len(forms) + 1), key=cost)
        self._alone = forms[:alone]
        self._stride = stride_for(forms, alone) if alone < len(forms) else 0
        self._forms: dict[int, list[bytes]] = {}
        for form in forms[alone:]:
            for at in range(WORD * self._stride):
                self._forms.setdefault(memoryview(form)[at : at + WORD].cast("I")[0], []).append(form)
        self._all = frozenset(self._forms)

    def candidates(self, data: bytes) -> Iterable[bytes]:
        """Forms among which are all that are in `data`."""
        if not self._stride:
            return self._alone
        words = memoryview(data)[: len(data) // WORD * WORD].cast("I")[:: self._stride]
        return {*self._alone, *(form for word in self._all.intersection(words) for form in self._forms[word])}


def stride_for(forms: Sequence[bytes], alone: int) -> int:
    """Of how many words one has to be looked at for all but the first `alone`: a whole one of these is in each form,
    however it lies. 0 if none is.
    """
    shortest = max(0, (len(forms[alone]) - WORD + 1) // WORD)
    return min(shortest, max(1, MOST_WORDS // WORD // (len(forms) - alone)))


# --- How a value may be written ---


def forms_of(value: str) -> Iterator[bytes]:
    """Without blanks and line breaks around it, which a program may add or take."""
    text = value.strip()
    raw = text.encode()
    yield repr(raw)[2:-1].encode()
    for written in (text, *in_code(text), *in_shells(text), *in_markup(text)):
        yield written.encode("ascii", "xmlcharrefreplace")
        yield written.encode()
    for safe in SAFE_IN_URLS:
        for quoted in (quote(raw, safe), IN_CAPITALS.sub(lambda one: one[0].lower(), quote(raw, safe))):
            yield quoted
            yield quoted.replace(b"%20", b"+")
    yield raw.hex().encode()
    yield raw.hex().upper().encode()
    for form in in_base64(raw):
        yield form
        yield form.translate(bytes.maketrans(b"+/", b"-_"))
    for password in passwords_in(text):
        yield from forms_of(password)
    lines = [line.strip() for line in text.splitlines()]
    if len(lines) > 1:  # what begins and ends a key in PEM is in every other
        yield from (line.encode() for line in lines if len(line) >= LEAST_LINE and not line.startswith("-----"))


def quote(raw: bytes, safe: frozenset[int]) -> bytes:
    return b"".join(map(quoted_bytes(safe).__getitem__, raw))


@cache
def quoted_bytes(safe: frozenset[int]) -> list[bytes]:
    return [b"%c" % byte if byte in safe else b"%%%02X" % byte for byte in range(256)]


def in_base64(raw: bytes) -> Iterator[bytes]:
    """The letters that `raw` alone decides, after 0, 1 or 2 bytes of something else; and with those at its end, if it
    is the last.
    """
    for before in range(3):
        letters = b2a_base64(bytes(before) + raw, newline=False).rstrip(b"=")
        first = (8 * before + 5) // 6
        yield letters[first : 8 * (before + len(raw)) // 6]
        yield letters[first:]
    if len(raw) > BASE64_LINE:  # cut into lines
        yield from (b2a_base64(raw[at : at + BASE64_LINE], newline=False).rstrip(b"=")
                    for at in range(0, len(raw), BASE64_LINE) if len(raw) - at >= LEAST_LINE)  # fmt: skip
