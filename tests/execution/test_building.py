"""What a build prints is kept, by the log or, where the disk is full, without it."""

from jobs.execution.building import HEAD_BYTES, MOST_TOLD_BYTES, TAIL_BYTES, Output


def test_head_and_tail_are_kept(tmp_path):
    output = Output(str(tmp_path / "log"))
    for _ in range(10):
        output.write(b"a" * (HEAD_BYTES // 4))
    output.write(b"end")
    assert output.close() == b""
    kept = (tmp_path / "log").read_bytes()
    assert kept.startswith(b"a" * HEAD_BYTES)
    assert b" bytes left out)\n" in kept
    assert kept.endswith(b"aend")
    assert len(kept) < HEAD_BYTES + TAIL_BYTES + HEAD_BYTES // 4


def test_on_a_full_disk_the_end_is_told_otherwise():
    output = Output("/dev/full")
    output.write(b"x" * (MOST_TOLD_BYTES + TAIL_BYTES))
    output.write(b"error: no space")
    told = output.close()
    assert told.endswith(b"error: no space\nerror: the log of the build cannot be written: No space left on device\n")
    assert len(told) < MOST_TOLD_BYTES + 100


def test_what_the_log_refuses_keeps_its_order():
    output = Output("/dev/full")
    output.write(b"a" * HEAD_BYTES + b"end")
    assert output.close().startswith(b"a" * (MOST_TOLD_BYTES - 3) + b"end\n")


def test_a_log_that_cannot_be_made_ends_nothing(tmp_path):
    output = Output(str(tmp_path / "gone" / "log"))
    output.write(b"said")
    assert output.close() == b"said\nerror: the log of the build cannot be written: No such file or directory\n"
