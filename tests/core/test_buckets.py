"""Token buckets: never more than the burst and what came in since, never a wait for nothing."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jobs.core.buckets import GREATEST_RATE, LEAST_RATE, LONGEST_STEP_BACK, Bucket, InvalidBucket, Tokens

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

buckets = st.builds(Bucket, st.floats(LEAST_RATE, GREATEST_RATE), st.floats(1, 1000))
pauses = st.floats(0, 5) | st.floats(0, 1e6)


def at(seconds):
    return NOW + timedelta(seconds=seconds)


def taken(bucket, tokens, now):
    """How many go through at once, and what is left."""
    times = 0
    while isinstance(left := bucket.take(tokens, now), Tokens):
        tokens, times = left, times + 1
    return times, tokens


def test_full_bucket_gives_its_burst_at_once():
    bucket = Bucket(rate_per_second=2, burst=5)
    assert taken(bucket, bucket.full(NOW), NOW)[0] == 5


def test_empty_bucket_names_the_next_moment():
    bucket = Bucket(rate_per_second=2, burst=5)
    assert bucket.take(Tokens(0, NOW), NOW) == at(0.5)
    assert bucket.take(Tokens(0.5, NOW), at(0.125)) == at(0.25)


def test_pause_fills_no_more_than_the_burst():
    bucket = Bucket(rate_per_second=10, burst=3)
    assert taken(bucket, Tokens(0, NOW), at(86_400))[0] == 3


def test_refusal_leaves_the_count_alone():
    bucket = Bucket(rate_per_second=1)
    empty = Tokens(0, NOW)
    for tenths in range(1, 10):
        assert bucket.take(empty, at(tenths / 10)) == at(1)


def test_smaller_burst_holds_at_once():
    # An edit may shrink a bucket that is full.
    assert taken(Bucket(1, burst=2), Tokens(100, NOW), NOW)[0] == 2


def test_each_waiter_is_told_its_own_moment():
    bucket = Bucket(rate_per_second=2, burst=2)
    moments = [bucket.ready_at(bucket.full(NOW), NOW, ahead) for ahead in range(4)]
    assert moments == [NOW, NOW, at(0.5), at(1)]


@example(Bucket(0.0003673769287288758), 0.0, 0.0)  # its floats sum up to a hair less than one token
@given(buckets, st.floats(0, 1), pauses)
@settings(deadline=None)
def test_named_moment_has_a_token(bucket, count, pause):
    now = at(pause)
    answer = bucket.take(Tokens(min(count, 0.999), now), now)
    assert answer > now
    assert isinstance(bucket.take(Tokens(min(count, 0.999), now), answer), Tokens)


@given(st.floats(LEAST_RATE, 10), st.floats(0, 0.999))
@settings(deadline=None)
def test_any_earlier_moment_has_none(rate, count):
    bucket, tokens = Bucket(rate), Tokens(count, NOW)
    answer = bucket.take(tokens, NOW)
    assert abs((answer - NOW).total_seconds() - (1 - count) / rate) <= 2e-6
    assert bucket.take(tokens, NOW + 0.9 * (answer - NOW)) > NOW + 0.9 * (answer - NOW)


@given(st.floats(LEAST_RATE, 100), st.floats(1, 20), st.lists(st.floats(-100, 100), max_size=40))
@settings(deadline=None)
def test_never_more_than_burst_and_rate(rate, burst, pauses):
    # Over any walk of the clock, forwards and back: what went through is paid for by the time that passed.
    bucket, tokens, now, total = Bucket(rate, burst), Tokens(burst, NOW), NOW, 0
    highest = NOW
    for pause in pauses:
        now += timedelta(seconds=pause)
        highest = max(highest, now)
        times, tokens = taken(bucket, tokens, now)
        total += times
        assert 0 <= tokens.count <= burst
        assert total <= (burst + rate * (highest - NOW).total_seconds()) * (1 + 1e-6) + 1e-6


@given(st.floats(0.1, 100), st.floats(1, 20), st.integers(0, 30))
@settings(deadline=None)
def test_waiters_get_what_they_were_told(rate, burst, ahead):
    bucket, tokens = Bucket(rate, burst), Tokens(0.25, NOW)
    told, now = bucket.ready_at(tokens, NOW, ahead), NOW
    for _ in range(ahead + 1):
        while not isinstance(left := bucket.take(tokens, now), Tokens):
            now = left
        tokens = left
    assert abs(now - told) <= (ahead + 1) * MICROSECOND


def test_clock_set_back_gives_nothing():
    bucket = Bucket(rate_per_second=1, burst=5)
    _, empty = taken(bucket, bucket.full(at(3600)), at(3600))
    assert bucket.take(empty, NOW) == at(3601)
    assert bucket.take(empty, at(3600)) == at(3601)


def test_clock_set_far_back_does_not_stop_it():
    bucket, mark = Bucket(rate_per_second=1), NOW + LONGEST_STEP_BACK + timedelta(seconds=1)
    assert bucket.take(Tokens(0, mark), NOW) == at(1)


@pytest.mark.parametrize("rate", [0, -1, 1e-9, 2e6, float("nan"), float("inf")])
def test_impossible_rate_is_refused(rate):
    with pytest.raises(InvalidBucket, match=r"rate_per_second is .*, but must be from one in a year to 100,000"):
        Bucket(rate)


@pytest.mark.parametrize("burst", [0, 0.5, -1, float("nan"), float("inf")])
def test_impossible_burst_is_refused(burst):
    with pytest.raises(InvalidBucket, match=r"burst is .*, but must be from 1 \(with less nothing could ever start\)"):
        Bucket(1, burst)
