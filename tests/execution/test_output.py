"""Output arrives raw, whole and in order, and never harms the job, the disk or the node."""

import os
import subprocess

import pytest

from jobs.execution import log
from jobs.execution.rundir import SAMPLES
from tests.execution.conftest import Gate
from tests.waiting import until


def test_output_keeps_streams_and_order(attempt, tmp_path):
    """Of what was read one after the other: of two pipes that wait, nobody knows which was written first."""
    gates = [Gate(tmp_path / "first"), Gate(tmp_path / "second")]
    running = attempt(f"echo one; {gates[0]}; echo two >&2; {gates[1]}; printf three")
    for word, gate in zip(("one", "two"), gates, strict=True):
        running.prints(word)
        gate.open()
    running.result()
    assert [(entry.stream, entry.data) for entry in log.entries(running.path)] == [
        (log.STDOUT, b"one\n"), (log.STDERR, b"two\n"), (log.STDOUT, b"three"),
    ]  # fmt: skip


def test_last_line_without_newline_shows_before_the_end(attempt):
    running = attempt("printf 'first\\nno newline at the end'; sleep 600")
    running.prints("first\nno newline at the end")


def test_binary_output_is_kept(attempt, tmp_path):
    (tmp_path / "data").write_bytes(data := os.urandom(100_000))
    running = attempt(f"cat {tmp_path}/data")
    running.result()
    assert log.read(running.path, limit=1 << 20).data == data


def test_character_printed_byte_by_byte_is_whole(attempt):
    script = (
        "import sys, time\nfor x in 'żółw€🚀'.encode():\n"
        "    sys.stdout.buffer.write(bytes([x])); sys.stdout.flush(); time.sleep(.02)"
    )
    running = attempt(script, "script")
    running.result()
    assert running.text == "żółw€🚀"
    assert all(log.read_text(running.path, n).text == "żółw€🚀".encode()[n:].decode(errors="ignore") for n in range(15))


def test_very_long_line_does_not_end_the_capture(attempt):
    running = attempt("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after")
    assert running.result().kind == "success"
    assert running.text == "x" * 3_000_000 + "\nafter\n"


def test_many_lines_with_nobody_reading(attempt):
    running = attempt("i=0; while [ $i -lt 200000 ]; do echo line $i; i=$((i+1)); done; echo END")
    assert running.result().kind == "success"
    assert running.text.endswith("line 199999\nEND\n")


def test_flood_is_capped_with_head_and_tail_kept(attempt):
    running = attempt("echo HEAD; yes | head -c 30000000; echo TAIL", log_cap_bytes=1_000_000)
    assert running.result().log["bytes"] == 30_000_010
    assert sum(file.stat().st_size for file in (running.path / "log").iterdir()) < 1_100_000
    assert log.read(running.path, limit=5).data == b"HEAD\n"
    assert log.tail_text(running.path, 5) == "TAIL\n"
    kept = sum(b - a for a, b in log.segments(running.path))
    assert log.dropped_bytes(running.path, 0, 30_000_010) == 30_000_010 - kept


def test_endless_flood_is_cancelled(attempt):
    running = attempt("yes", log_cap_bytes=1_000_000)
    until(lambda: log.state(running.path).end > 50_000_000)
    running.cancel()
    assert running.result().kind == "cancelled"


def test_what_was_printed_before_the_end_is_told_before_it(attempt):
    """The last words of a job that left processes came after the notice that it had ended."""
    running = attempt("sleep 600 & head -c 60000 /dev/zero | tr '\\0' x; echo last")
    assert running.result().kind == "success"
    assert running.text.index("last\n[rota] the job has ended and left processes") == 60_000


def test_carriage_returns_are_kept_raw(attempt):
    running = attempt("for i in 1 2 3; do printf '\\r%3d%%' $i; done; printf '\\nfinished\\n'")
    running.result()
    assert running.text == "\r  1%\r  2%\r  3%\nfinished\n"


@pytest.fixture
def small_disk(tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root may mount a small disk")
    (disk := tmp_path / "disk").mkdir()
    if subprocess.run(["/bin/mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", disk], check=False).returncode:
        pytest.skip("this machine does not let us mount a small disk")
    yield disk
    subprocess.run(["/bin/umount", "--lazy", disk], check=True)  # somebody may look at it just now


def test_job_on_a_full_disk_ends_with_its_outcome(attempt, small_disk):
    running = attempt("yes | head -c 5000000; exit 6", path=small_disk / "run")
    result = running.result()
    assert (result.kind, result.exit_code) == ("failed", 6)
    assert result.log["error"] == "No space left on device"
    assert log.state(running.path).lost_bytes > 4_000_000


def test_job_that_fills_the_disk_itself_gets_a_result(attempt, small_disk):
    running = attempt(f"dd if=/dev/zero of={small_disk}/big bs=4k; rm -f x; exit 2", path=small_disk / "run")
    assert running.result().exit_code == 2


def test_run_directory_survives_for_reading(attempt):
    running = attempt("echo hi")
    running.result()
    names = {file.name for file in running.path.iterdir()} - {SAMPLES}  # of a machine that takes seconds for it
    assert names == {"claim", "log", "result.json", "spec.json", "started.json"}
