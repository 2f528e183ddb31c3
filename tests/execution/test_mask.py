"""Masking by value: what a job prints, however it is cut, holds none of its secrets."""

import base64
import json
from itertools import pairwise
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.execution.mask import LITTLE, MASK, Mask, forms_of

KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN+bgkq/hkiG9w0\nBAQEFAASCBKcwggSjAgEA\n-----END PRIVATE KEY-----\n"
VALUES = ["s3cr3t-value-123", "pass wörd/+?&'\"\\x", KEY, "cr3t-value-123-longer", "aabaab", "żółw-żółw"]


unhurried = settings(deadline=None)


def streamed(mask: Mask, parts: list[bytes]) -> bytes:
    return b"".join([*(mask.stream(1, part) for part in parts), mask.flush(1)])


def cut(data: bytes, places: list[int]) -> list[bytes]:
    places = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(places)]


pieces = st.one_of(
    st.sampled_from([value.encode()[a:b] for value in VALUES for a, b in ((0, None), (0, 9), (3, None), (0, 1))]),
    st.sampled_from([base64.b64encode(b"user:" + value.encode()) for value in VALUES]),
    st.binary(max_size=6),
)


@unhurried
@given(st.lists(pieces, max_size=12).map(b"".join), st.lists(st.integers(0, 9999), max_size=9))
def test_any_cut_masks_as_the_whole(data, places):
    assert streamed(Mask(VALUES), cut(data, places)) == Mask(VALUES).whole(data)


@unhurried
@given(st.lists(pieces, max_size=12).map(b"".join))
def test_no_value_is_left_whole(data):
    told = Mask(VALUES).whole(data)
    assert not any(value.strip().encode() in told for value in VALUES)


@unhurried
@given(st.text("abab\n", max_size=40).map(str.encode), st.lists(st.text("ab", min_size=2, max_size=9), max_size=4))
def test_streams_of_overlapping_values_agree(data, values):
    mask = Mask(values)
    assert streamed(mask, [data[at : at + 1] for at in range(len(data))]) == mask.whole(data)


def naive(values: list[str], data: bytes) -> bytes:
    """What lies under any form is one mask for all that overlap."""
    forms = {form for value in values for form in forms_of(value) if form}
    spans = sorted((at, at + len(form)) for form in forms for at in range(len(data)) if data.startswith(form, at))
    told, end = b"", 0
    for start, stop in spans:
        if start >= end:
            told += data[end:start] + MASK
        end = max(end, stop)
    return told + data[end:]


def long_running(values: list[str]) -> Mask:
    """One that looks for words, not for each form."""
    mask = Mask(values)
    mask._seen = LITTLE
    return mask


overlapping = st.text("ab", min_size=1, max_size=40) | st.text("ab\n+ż", min_size=1, max_size=9)
values_and_data = st.lists(overlapping, min_size=1, max_size=6).flatmap(
    lambda values: st.tuples(
        st.just(values),
        st.lists(st.sampled_from(values) | st.text("ab", max_size=5), max_size=8).map("".join).map(str.encode),
    )
)


@settings(unhurried, max_examples=25)
@given(values_and_data, st.lists(st.integers(0, 9999), max_size=9))
def test_masks_are_where_a_naive_search_puts_them(both, places):
    values, data = both
    told = naive(values, data)
    assert Mask(values).whole(data) == long_running(values).whole(data) == told
    assert streamed(Mask(values), cut(data, places)) == streamed(long_running(values), cut(data, places)) == told


@settings(unhurried, max_examples=30)
@given(st.lists(pieces, max_size=12).map(b"".join), st.integers(8, 50))
def test_hundreds_of_secrets_find_what_few_do(data, size):
    many = [*VALUES, *(f"{number:04}-no-such-value".ljust(size, "-") for number in range(40))]
    assert long_running(many).whole(data) == Mask(VALUES).whole(data)


@pytest.mark.parametrize("begin", range(40))
def test_words_find_a_value_wherever_it_lies(begin):
    values = [f"{number:03}-some-value-of-a-secret" for number in range(60)]
    told = long_running(values).whole(b"-" * begin + values[7].encode() + b"=")
    assert told == b"-" * begin + MASK + b"="


@pytest.mark.parametrize(
    "write",
    [
        str,
        quote,
        quote_plus,
        lambda value: quote(value, safe=""),
        lambda value: json.dumps({"value": value}),
        lambda value: json.dumps(value, ensure_ascii=False),
        repr,
        lambda value: repr(value.encode()),
        lambda value: value.encode().hex(),
        lambda value: value.encode().hex().upper(),
        lambda value: base64.b64encode(value.encode()).decode(),
        lambda value: base64.urlsafe_b64encode(f"x{value}".encode()).decode(),
        lambda value: base64.b64encode(f"xy{value}z".encode()).decode(),
    ],
)
@pytest.mark.parametrize("value", VALUES)
def test_usual_ways_to_write_a_value_are_masked(write, value):
    told = Mask([value]).whole(write(value).encode())
    assert MASK in told
    assert len(told.replace(MASK, b"")) <= len(write("")) + 8  # quotes, names, the letters shared with neighbours


def test_every_line_of_a_key_is_masked():
    told = Mask([KEY]).whole(b"  BAQEFAASCBKcwggSjAgEA\r\n-----BEGIN PRIVATE KEY-----\r\n")
    assert told == b"  ********\r\n-----BEGIN PRIVATE KEY-----\r\n"


def test_base64_in_lines_is_masked():
    value = "".join(f"{number:03}/" for number in range(40))
    told = Mask([value]).whole(base64.encodebytes(value.encode()))
    assert told.replace(b"=", b"").split() == [MASK] * 3


def test_overlapping_values_leave_nothing():
    assert Mask(["abcdef", "cdefghij"]).whole(b"1abcdefghij2") == b"1********2"


def test_line_that_is_complete_is_told_at_once():
    mask = Mask(VALUES)
    assert mask.stream(1, b"some s3cr3t\n") == b"some s3cr3t\n"


def test_beginning_of_a_value_waits_for_the_rest():
    mask = Mask(["s3cr3t-value"])
    assert mask.stream(1, b"it is s3cr") == b"it is "
    assert mask.stream(2, b"t-value") == b"t-value"
    assert mask.stream(1, b"ee") + mask.flush(1) == b"s3cree"


def test_endless_overlap_holds_back_less_than_a_value():
    mask = Mask(["aabaab"])
    told = b"".join(mask.stream(1, b"aab") for _ in range(1000))
    assert told == MASK
    assert len(mask._tails[1].data) < len("aabaab")


def test_without_secrets_all_is_told():
    assert Mask(()).stream(1, b"x") == b"x"
    assert Mask([" \n"]).text("a b\n") == "a b\n"
