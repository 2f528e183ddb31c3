"""What a job prints, on its way into log/: segments of raw bytes, each with an index. Standard library only.

One log for both streams, in the order in which they were read; a byte's offset in it never changes. A segment is
`<offset of its first byte>.log`; beside it `<same>.idx` says per read from which offset on, when and by which stream
the bytes came (`ENTRY`). The first entry, of the stream LINES, has instead of a time how many line ends came before the
segment, so that a line keeps its number when others before it are gone. Past the cap the oldest segment after the first
is dropped: the head tells what was begun, the tail how it ended. A gap between two segments is what was dropped, or
what the disk would not take.
"""

from __future__ import annotations

import errno
import os
import struct
import time
from contextlib import suppress

from jobs.execution.mask import Mask
from jobs.execution.rundir import LOG, RunDir

STDOUT, STDERR, NOTICE = 1, 2, 3  # a notice is the runner's own word on what it did to the job
LINES = 4
ENTRY = struct.Struct("<QQB")  # offset, microseconds since the epoch, stream
SEGMENT_BYTES = 1 << 20
SEGMENT_ENTRIES = 16_384  # a job that prints single bytes must not make an index larger than its log
SAME_READ_SECONDS = 0.005  # reads of one stream this close share an index entry
RETRY_SECONDS = 1.0  # after the disk refused, output is let go for this long before the next try
SUFFIX_DATA, SUFFIX_INDEX = ".log", ".idx"


class LogWriter:
    """Never raises for the disk's sake and never waits: what is refused is counted."""

    def __init__(self, rundir: RunDir, cap_bytes: int, mask: Mask | None = None) -> None:
        """`mask`: of the secrets, none of which is ever written."""
        self.end = 0  # offset after the last byte that the job printed
        self.lost_bytes = 0  # of these, how many the disk would not take
        self.error = ""  # what the disk said, the last time
        self._rundir = rundir
        self._mask = mask or Mask(())
        self._dir = -1  # log/, made with the first output: most jobs of a busy node print nothing
        self._cap = cap_bytes
        self._segment_bytes = max(4096, min(SEGMENT_BYTES, cap_bytes // 4))
        self._segment: Segment | None = None
        self._kept: list[tuple[int, int]] = []  # (offset, bytes that count) of closed segments
        self._kept_bytes = 0
        self._retry_at = 0.0
        self._carry = {STDOUT: b"", STDERR: b""}
        self._in_line = False
        self._lines = 0  # line ends up to `end`

    def write(self, stream: int, data: bytes) -> bytes:
        """Take one read of `stream`. Returns what of it may be told, masked. The start of a character whose rest is
        still to come waits for it.
        """
        told = self._mask.stream(stream, data)
        self._take(stream, told)
        return told

    def flush(self, stream: int) -> bytes:
        """The stream has ended: what waits is not the start of anything but just these bytes. Returns what of them was
        not told before.
        """
        told = self._mask.flush(stream)
        self._take(stream, told)
        data, self._carry[stream] = self._carry[stream], b""
        self._append(stream, data)
        return told

    def _take(self, stream: int, data: bytes) -> None:
        data = self._carry[stream] + data
        cut = len(data) - unfinished_bytes(data)
        self._carry[stream] = data[cut:]
        self._append(stream, data[:cut])

    def notice(self, sentence: str) -> None:
        """A line of the runner's own, after a line break if the job has not made one."""
        self._append(NOTICE, f"{chr(10) * self._in_line}[rota] {self._mask.text(sentence)}\n".encode())

    def close(self) -> None:
        self.flush(STDOUT)
        self.flush(STDERR)
        self._close_segment()

    def let_go(self) -> None:
        """Close it in a process that lives on. From now on there is no `drop_oldest`."""
        self.close()
        if self._dir >= 0:
            os.close(self._dir)
            self._dir = -1

    def drop_oldest(self) -> bool:
        """Remove the oldest segment after the first, to make room. False if there is none."""
        if len(self._kept) < 2 or self._dir < 0:
            return False
        offset, size = self._kept.pop(1)
        self._kept_bytes -= size
        self._remove(offset)
        return True

    def _make_room(self, more: int) -> None:
        """Only what would go over the cap costs the oldest: a log that fits is kept whole."""
        more += self._segment.counted if self._segment else 0
        while self._kept_bytes + more > self._cap and self.drop_oldest():
            pass

    def _append(self, stream: int, data: bytes) -> None:
        if not data:
            return
        written = 0
        try:
            if segment := self._writable_segment():
                self._make_room(len(data))
                written = segment.append(stream, data)
        except OSError as error:
            self._refused(error)
        self.end += len(data)
        self._lines += data.count(b"\n")
        self._in_line = not data.endswith(b"\n")
        if written < len(data):
            self.lost_bytes += len(data) - written
            self._close_segment()

    def _writable_segment(self) -> Segment | None:
        """The open segment, or a new one if it is full; None while the disk is given time after a refusal."""
        if self._segment and self._segment.full(self._segment_bytes):
            self._close_segment()
        if self._segment is None:
            if time.monotonic() < self._retry_at:
                return None
            self._segment = self._new_segment()
        return self._segment

    def _new_segment(self) -> Segment:
        folder = self._directory()
        try:
            return Segment(folder, self.end, self._lines)
        except FileNotFoundError:  # the job has removed log/, which is made anew
            os.close(folder)
            self._dir = -1
            return Segment(self._directory(), self.end, self._lines)

    def _directory(self) -> int:
        if self._dir < 0:
            with suppress(FileExistsError):  # the job may have made it
                self._rundir.make_dir(LOG)
            self._dir = self._rundir.open(LOG, os.O_RDONLY | os.O_DIRECTORY)
        return self._dir

    def _refused(self, error: OSError) -> None:
        self.error = error.strerror or str(error)
        self._retry_at = time.monotonic() + RETRY_SECONDS

    def _close_segment(self) -> None:
        if segment := self._segment:
            segment.close()
            if segment.size:
                self._kept.append((segment.offset, segment.counted))
                self._kept_bytes += segment.counted
            else:
                self._remove(segment.offset)
            self._segment = None

    def _remove(self, offset: int) -> None:
        for suffix in (SUFFIX_DATA, SUFFIX_INDEX):
            with suppress(FileNotFoundError):  # the job may have removed it
                os.unlink(segment_name(offset, suffix), dir_fd=self._dir)


class Segment:
    """The segment that is written at present."""

    def __init__(self, dir_fd: int, offset: int, lines: int) -> None:
        """`lines`: line ends before it."""
        self.offset = offset
        self._lines = lines
        self.size = 0
        self.entries = 0
        self._last = (0, 0.0)  # stream and time of the last index entry
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._index = os.open(segment_name(offset, SUFFIX_INDEX), flags, 0o600, dir_fd=dir_fd)
        try:
            self._data = os.open(segment_name(offset, SUFFIX_DATA), flags, 0o600, dir_fd=dir_fd)
        except OSError:
            os.close(self._index)
            raise

    def full(self, segment_bytes: int) -> bool:
        return self.size >= segment_bytes or self.entries >= SEGMENT_ENTRIES

    @property
    def counted(self) -> int:
        """What the cap sees: its bytes; of a job that prints single ones, its index, which is larger."""
        return max(self.size, self.entries * ENTRY.size)

    def append(self, stream: int, data: bytes) -> int:
        """Bytes that the disk took: it may take a part. The index goes first, so a reader never sees bytes that
        no entry covers. OSError if it took nothing.
        """
        self._note(stream)
        written = os.write(self._data, data)
        self.size += written
        return written

    def _note(self, stream: int) -> None:
        now = time.time()
        last_stream, last_at = self._last
        if stream == last_stream and 0 <= now - last_at < SAME_READ_SECONDS:
            return
        entry = ENTRY.pack(self.offset + self.size, int(now * 1e6), stream)
        if not self.entries:
            entry = ENTRY.pack(self.offset, self._lines, LINES) + entry
        if os.write(self._index, entry) < len(entry):  # a torn entry is the last of its index: the reader cuts it off
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.entries += 1
        self._last = (stream, now)

    def close(self) -> None:
        os.close(self._data)
        os.close(self._index)


def segment_name(offset: int, suffix: str) -> str:
    return f"{offset:020d}{suffix}"


def unfinished_bytes(data: bytes) -> int:
    """How many bytes at the end are the start of a UTF-8 character whose rest is missing (0 to 3)."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:  # in the middle of a character: its first byte lies further back
            continue
        length = 2 if byte & 0xE0 == 0xC0 else 3 if byte & 0xF0 == 0xE0 else 4 if byte & 0xF8 == 0xF0 else 1
        return back if back < length else 0
    return 0
