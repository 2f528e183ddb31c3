"""What a job used over its time, as its runner wrote it down."""

import os
import sys

import pytest

from jobs.execution.rundir import SAMPLES, RunDir
from jobs.execution.samples import MOST_POINTS, POINT, Sample, SampleFile, read_samples
from tests.waiting import until


@pytest.fixture
def rundir(tmp_path):
    with RunDir(str(tmp_path)) as opened:
        yield opened


def added(rundir, samples):
    file = SampleFile(rundir)
    for sample in samples:
        file.add(sample)
    return read_samples(rundir.path)


def steady(count, cores=1.5, memory_bytes=1000):
    return [Sample(float(second), cores, memory_bytes) for second in range(1, count + 1)]


# Until the curve is there and shows what it holds: on a busy machine looks come seldom, and may have come before that.
BURN = f"""
import os, struct
held, last = bytearray(40_000_000), b""
while len(last) < {POINT.size} or struct.unpack({POINT.format!r}, last)[2] < len(held):
    if os.path.exists("../{SAMPLES}"):
        last = open("../{SAMPLES}", "rb").read()[-{POINT.size}:]
"""


def test_busy_job_leaves_its_curve(attempt):
    running = attempt(BURN, "script")
    result = running.result()
    found = read_samples(running.path)
    assert len(found) >= 2
    assert found[-1].seconds <= result.duration_seconds
    assert 0 < found[-1].cores <= (os.cpu_count() or 1) + 0.5
    assert 40_000_000 < max(one.memory_bytes for one in found) <= result.peak_memory_bytes


def test_children_that_were_waited_for_count(attempt, gate):
    child = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
    running = attempt(f"for n in 1 2 3 4 5 6; do {sys.executable} -c '{child}'; done; {gate}")
    until(lambda: cpu_seconds(read_samples(running.path)) > 1.0)
    gate.open()
    running.result()


def cpu_seconds(samples):
    before = [0.0, *(one.seconds for one in samples)]
    return sum(one.cores * (one.seconds - since) for since, one in zip(before, samples, strict=False))


def test_short_job_leaves_no_file(attempt):
    running = attempt("true")
    result = running.result()
    assert result.duration_seconds > 1 or not (running.path / SAMPLES).exists()


def test_samples_come_back_as_they_were_added(rundir):
    assert added(rundir, steady(5)) == steady(5)


def test_file_stays_bounded_however_long_it_runs(rundir, tmp_path):
    found = added(rundir, steady(20 * MOST_POINTS))
    assert MOST_POINTS / 2 - 1 <= len(found) < MOST_POINTS
    assert (tmp_path / SAMPLES).stat().st_size == len(found) * POINT.size


def test_thinning_keeps_average_and_peak(rundir):
    spiky = [Sample(float(n), float(n % 2), 7000 if n == 100 else 1000) for n in range(1, 2 * MOST_POINTS + 1)]
    found = added(rundir, spiky)
    assert {round(one.cores, 6) for one in found} == {0.5}
    assert max(one.memory_bytes for one in found) == 7000


def test_torn_point_is_left_out(rundir, tmp_path):
    added(rundir, steady(3))
    whole = (tmp_path / SAMPLES).read_bytes()
    for cut in range(1, POINT.size):
        (tmp_path / SAMPLES).write_bytes(whole[:-cut])
        assert read_samples(tmp_path) == steady(2)


@pytest.mark.parametrize("written", [b"", b"x", os.urandom(2**20), POINT.pack(float("nan"), 1, 1) * 3])
def test_what_a_job_writes_there_harms_nobody(tmp_path, written):
    (tmp_path / SAMPLES).write_bytes(written)
    assert len(read_samples(tmp_path)) <= 4 * MOST_POINTS


def test_something_else_than_a_file_is_no_curve(tmp_path):
    os.mkfifo(tmp_path / SAMPLES)
    assert read_samples(tmp_path) == []
    assert read_samples(tmp_path / "gone") == []


def test_refused_point_is_written_with_the_next(rundir, tmp_path, monkeypatch):
    file = SampleFile(rundir)
    one, two, three = steady(3)
    file.add(one)
    with monkeypatch.context() as patch:
        patch.setattr("jobs.execution.rundir.write_all", refuse)
        file.add(two)
    assert read_samples(tmp_path) == []
    file.add(three)
    assert read_samples(tmp_path) == [one, two, three]


def test_job_that_puts_a_fifo_there_still_ends_well(rundir, tmp_path):
    file = SampleFile(rundir)
    for sample in steady(2):
        file.add(sample)
    (tmp_path / SAMPLES).unlink()
    os.mkfifo(tmp_path / SAMPLES)
    file.add(Sample(3.0, 1.0, 1))
    file.add(Sample(4.0, 1.0, 1))
    assert len(read_samples(tmp_path)) == 4


def refuse(fd, content):
    raise OSError(28, "No space left on device")
