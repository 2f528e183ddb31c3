"""The processes of an attempt, as /proc tells them: who descends from whom, who carries the attempt's token.

Standard library only.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

QUICK_LOOKS = 20
EXEC_SECONDS = 1.0  # how long one in the middle of an execve() is waited for: it takes 0.1 ms, and the wait for a core
EXEC_PAUSE_SECONDS = 0.0005
MOST_VARIABLES_BYTES = 6 << 20  # that the kernel lets a process begin with
TOKEN_NAME = "ROTA_TOKEN"  # noqa: S105 the name of a variable, not a secret


class Process(NamedTuple):
    """`started` in clock ticks since boot: with the pid it names a process once and for all. Among its `threads`
    the first one counts even if it has ended.
    """

    pid: int
    parent: int
    group: int
    session: int
    state: str
    started: int
    threads: int = 1

    @property
    def alive(self) -> bool:
        """Also with a first thread that has ended, which looks like a zombie, while others run on."""
        return self.state not in {"Z", "X"} or self.threads > 1

    @property
    def hangs(self) -> bool:
        """Whether a thread of it waits in the kernel (state D): there not even KILL ends it, if it is for a disk or a
        server that does not answer.
        """
        if self.threads == 1:
            return self.state == "D"
        threads = (in_words(int(task), read_proc(self.pid, f"task/{task}/stat")) for task in tasks(self.pid))
        return any(one.state == "D" for one in threads if one)


def process(pid: int) -> Process | None:
    return in_words(pid, read_proc(pid, "stat"))


def in_words(pid: int, content: bytes) -> Process | None:
    """What the kernel says of a process or a thread."""
    if not content:
        return None
    # The name in brackets may hold spaces and brackets itself: what follows its last one is made of words.
    words = content[content.rindex(b")") + 2 :].split()
    parent, group, session = (int(word) for word in words[1:4])
    return Process(pid, parent, group, session, words[0].decode(), int(words[19]), int(words[17]))


def is_traced(pidfd: int) -> bool:
    """Whether it stands still because another traces it: it then takes no signal but KILL."""
    facts = dict(line.split(b":", 1) for line in read_proc(os.getpid(), f"fdinfo/{pidfd}").splitlines())
    one = process(int(facts.get(b"Pid", b"0")))  # before Linux 5.14 only root reads those of an undumpable process
    return one is not None and one.state == "t"


def all_processes() -> list[Process]:
    found = (process(int(name)) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208 pathlib costs start-up
    return [one for one in found if one]


def descendants(root: int) -> list[Process]:
    """All that descend from `root` by parenthood and are alive, root itself not. One look: some may fork meanwhile."""
    children: dict[int, list[Process]] = {}
    for one in all_processes():
        children.setdefault(one.parent, []).append(one)
    found = []
    parents = [root]
    for parent in parents:
        for child in children.get(parent, ()):
            parents.append(child.pid)
            found.append(child)
    return [one for one in found if one.alive]


def descendant_pids(root: int) -> list[int]:
    """The same by the kernel's own lists: costs by the size of the tree, not of the machine, but may miss some that
    fork or end meanwhile. Good enough to measure, not to end.
    """
    pids: list[int] = []
    parents = [root]
    for parent in parents:
        found = children_of(parent)
        parents += found
        pids += found
    return pids


def children_of(pid: int) -> list[int]:
    """By the kernel's own lists, one for each thread. That of the first one last: the children of a thread that ends
    meanwhile come to it.
    """
    found = [read_proc(pid, f"task/{task}/children").split() for task in reversed(tasks(pid))]
    return [int(child) for child in dict.fromkeys(chain.from_iterable(found))]


def adopted() -> list[int]:
    """Children of this process that another has left to it, as a child subreaper, beside those of its first thread."""
    pid = os.getpid()
    return [int(child) for child in read_proc(pid, f"task/{pid}/children").split()]


def tasks(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 as above
    except (FileNotFoundError, ProcessLookupError):
        return []


def last_task(pid: int) -> str:
    """One that has not ended, if any has not: only the first is there still when it has."""
    return next(reversed(tasks(pid)), "")


def marked(token: str, session: Process | None) -> list[Process]:
    """Alive and of the attempt with this token, whoever their parent is now: they carry ROTA_TOKEN, or belong to the
    session that its job led. A session's number may be taken by others once all of it is gone, so its members count
    only if they started after the job did.
    """
    mark = f"{TOKEN_NAME}={token}".encode()
    until = exec_deadline()
    return [
        one for one in all_processes() if one.alive and (in_session(one, session) or mark in variables(one.pid, until))
    ]


def in_session(one: Process, leader: Process | None) -> bool:
    if leader is None or one.session != leader.pid or one.started < leader.started:
        return False
    present = process(leader.pid)
    return present is None or present.started == leader.started


def has_variable(pid: int, assignment: bytes) -> bool:
    return assignment in variables(pid)


def token_of(pid: int) -> str | None:
    """Of the attempt whose token it carries, if it does and lets us see it."""
    start = f"{TOKEN_NAME}=".encode()
    found = (one[len(start) :] for one in variables(pid) if one.startswith(start))
    return next((token.decode("utf-8", "replace") for token in found), None)


def exec_deadline() -> float:
    """For a look at many: of those that have taken their environment out of memory, each looks as if in an execve()."""
    return time.monotonic() + EXEC_SECONDS


def variables(pid: int, deadline: float | None = None) -> list[bytes]:
    """With what environment it began, as far as it lets us see that. A thread that has ended has none any more.

    In the middle of an execve() it has none yet: not looked at again, it would be nobody's, and get away. And one
    between two reads is the end of what is read, so all of it is read at once.
    """
    deadline = exec_deadline() if deadline is None else deadline
    while not (content := read_variables(pid, "environ") or read_variables(pid, f"task/{last_task(pid)}/environ")):
        if not will_have_variables(pid) or time.monotonic() >= deadline:
            break
        time.sleep(EXEC_PAUSE_SECONDS)
    return content.split(b"\0")


def will_have_variables(pid: int) -> bool:
    """Whether it is in the middle of an execve(), or was a moment ago: it has memory and its code begins nowhere yet,
    or its environment is of some length. One that does not let us look has its code begin at 1.
    """
    content = read_proc(pid, "stat")
    words = content[content.rfind(b")") + 2 :].split()
    if not words:
        return False
    memory, code, begins, ends = words[20], words[23], words[47], words[48]
    return memory != b"0" and code != b"1" and (code == b"0" or begins != ends)


def read_variables(pid: int, name: str) -> bytes:
    return read_proc(pid, name, MOST_VARIABLES_BYTES)


def read_proc(pid: int, name: str, at_once: int = 1 << 16) -> bytes:
    """Nothing for a process that is gone, or whose owner does not let us look."""
    try:
        fd = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""
    try:
        return b"".join(iter(lambda: os.read(fd, at_once), b""))
    except (ProcessLookupError, PermissionError):
        return b""
    finally:
        os.close(fd)


def send(one: Process, number: int) -> bool:
    """Signal exactly this process; fine if it is gone. False if it belongs to somebody we may not signal."""
    try:
        pidfd = os.pidfd_open(one.pid)
    except ProcessLookupError:
        return True
    try:
        now = process(one.pid)
        if now and now.started == one.started:  # else its number was given to another
            signal.pidfd_send_signal(pidfd, number)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    finally:
        os.close(pidfd)
    return True


def send_all(processes: Iterable[Process], number: int) -> Iterator[Process]:
    """Signal them all; yields those that we may not."""
    for one in processes:
        if not send(one, number):
            yield one


def kill_groups(processes: Iterable[Process]) -> None:
    """KILL their process groups too: the kernel holds back a fork in a group that is being killed, so one that forks
    faster than /proc can be read does not get away. The caller vouches that no group holds others.
    """
    for group in {one.group for one in processes} - {0, os.getpgrp()}:
        kill_group(group)


def kill_children() -> None:
    """KILL this process's own children and their groups, by looks so short that even a process that does nothing but
    fork and exit, to be somebody else each time, is hit. Not for one that has children to keep.
    """
    own = os.getpgrp()
    for _ in range(QUICK_LOOKS):
        groups = {own}  # each once: to kill one of thousands takes a millisecond
        for pid in children_of(os.getpid()):
            try:
                if (group := os.getpgid(pid)) not in groups:
                    groups.add(group)
                    kill_group(group)
                os.kill(pid, signal.SIGKILL)  # surely this one: nobody else reaps it
            except (ProcessLookupError, PermissionError):
                continue


def kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
