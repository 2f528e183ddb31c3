"""Callables of the tests: some do as they should, most do not."""

import asyncio
import contextlib
import ctypes
import io
import json
import locale
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from django.conf import settings

from jobs.callables import job
from jobs.callables.errors import NonRetryableError

FOREVER = 600


async def wait_for(path: str) -> None:
    while not os.path.exists(path):
        await asyncio.sleep(0.01)


def wait_here_for(path: str) -> None:
    while not os.path.exists(path):
        time.sleep(0.01)


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no")


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit(4)


class Trap(dict):
    def items(self):
        raise KeyboardInterrupt


def token_of_the_call() -> str:
    """As one finds it who looks for it: in a frame of the worker."""
    frame = sys._getframe()
    while "spec" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["spec"].token


def ends(how: str, number: int = 0) -> object:
    match how:
        case "value":
            return {"number": number, "list": [1, "ż"]}
        case "set":
            return {1, 2}
        case "surrogate":
            return "\ud800"
        case "large":
            return "x" * 70_000
        case "error":
            raise ValueError("the shelf is empty")
        case "final":
            raise NonRetryableError("no such customer")
        case "timeout":
            raise TimeoutError("the other side did not answer")
        case "unprintable":
            raise Unprintable
        case "mute":
            raise Mute
        case "trap":
            return Trap(a=1)
        case "fork":
            if (pid := os.fork()) == 0:
                return "the child"
            os.waitpid(pid, 0)
            return "the parent"
        case "moved":
            os.chdir("/")
            os.umask(0)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            sys.stdout = None
        case "where":
            return [
                os.getcwd() != "/",
                os.umask(0o22) != 0,
                signal.getsignal(signal.SIGCHLD) == 0,
                sys.stdout is not None,
            ]
        case "exit":
            sys.exit(number)
        case "os._exit":
            os._exit(number)
        case "closed":
            sys.stdout.close()
            if number:
                raise ValueError("the shelf is empty")
        case "segfault":
            ctypes.string_at(0)
        case "traced":
            sys.settrace(lambda *_: 1 // 0)
        case "lies":
            lie = {"of": token_of_the_call(), "answer": ["rich"], "cpu_seconds": 0, "leaves": False}
            os.write(3, json.dumps(lie).encode())
        case "chatter":
            for fd in range(3, 32):
                with contextlib.suppress(OSError):
                    os.write(fd, b'{"progress": "\\ud800"}' if number else b"\xff{")
            time.sleep(FOREVER)
    return None


@job
async def async_ends(how: str, number: int = 0) -> object:
    await asyncio.sleep(0)
    return ends(how, number)


@job(model="thread")
def thread_ends(how: str, number: int = 0) -> object:
    return ends(how, number)


@job(model="process", pooled=True)
def pooled_ends(how: str, number: int = 0) -> object:
    return ends(how, number)


@job(model="process")
def process_ends(how: str, number: int = 0) -> object:
    return ends(how, number)


@job
async def async_waits(path: str) -> None:
    print("waiting")
    await wait_for(path)


@job(model="thread")
def thread_waits(path: str) -> None:
    print("waiting")
    wait_here_for(path)


@job(model="process", pooled=True)
def pooled_waits(path: str) -> None:
    print("waiting", flush=True)
    wait_here_for(path)


@job(model="process")
def process_waits(path: str) -> None:
    print("waiting", flush=True)
    wait_here_for(path)


@job
async def async_blocks(path: str) -> None:
    print("waiting")
    wait_here_for(path)


@job
async def async_deaf(path: str) -> None:
    print("waiting")
    while not os.path.exists(path):
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            continue


@job(model="thread")
def thread_heeds(context: object) -> str:
    print("waiting")
    return "asked" if context.cancelled.wait(FOREVER) else "not asked"


@job
async def async_heeds(context: object) -> None:
    print("waiting")
    try:
        await asyncio.sleep(FOREVER)
    except asyncio.CancelledError:
        print("tidied up")
        raise


@job(model="process", pooled=True)
def pooled_heeds(context: object) -> None:
    cancelled = context.cancelled
    print("waiting", flush=True)
    cancelled.wait(FOREVER)
    print("tidied up")


@job(model="process")
def process_heeds(context: object) -> None:
    cancelled = context.cancelled
    print("waiting", flush=True)
    cancelled.wait(FOREVER)
    print("tidied up")


@job(model="process", pooled=True)
def pooled_deaf(path: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("waiting", flush=True)
    wait_here_for(path)


@job
async def async_tells(context: object, name: str, times: int = 5) -> str:
    for number in range(times):
        print(f"{name} {number}")
        logging.getLogger("shop").warning("%s logs %d", name, number)
        await asyncio.sleep(0)
    await asyncio.to_thread(print, f"{name} in a thread")
    context.progress(0.5, f"half of {name}")
    context.progress(1, f"all of {name}")
    return name


@job(model="thread")
def thread_halves(context: object, path: str) -> None:
    context.progress(0.1)
    context.progress(0.5, "half")
    wait_here_for(path)


@job(model="thread")
def thread_tells(context: object, name: str) -> list[object]:
    print(name, end="")
    sys.stderr.write(f"{name} errs\n")
    context.progress(0.25, name)
    return [context.instance_id, context.attempt, context.parameters]


@job(model="process", pooled=True)
def pooled_tells(context: object, name: str) -> list[object]:
    print(name)
    os.write(2, b"from below\n")
    context.progress(0.25, name)
    return [context.instance_id, context.attempt, context.parameters, os.getpid()]


@job(model="process")
def process_tells(context: object, name: str) -> list[object]:
    print(name)
    context.progress(0.25, name)
    return [context.instance_id, context.attempt, context.parameters]


@job
async def async_leaves_tasks(path: str) -> None:
    task = asyncio.create_task(wait_for(path))
    await asyncio.sleep(0)
    assert not task.done()


@job(model="process", pooled=True)
def pooled_leaves(seconds: int = FOREVER) -> int:
    return subprocess.Popen(["sleep", str(seconds)], start_new_session=True).pid


@job(model="process", pooled=True)
def pooled_leaves_tidy(path: str) -> int:
    """What takes a TERM and ends when there is a file `path`."""
    tidy = f"trap 'until [ -e {path} ]; do sleep 0.02; done; exit' TERM; echo ready; while :; do sleep 0.02; done"
    left = subprocess.Popen(["sh", "-c", tidy], stdout=-1)
    left.stdout.readline()
    print(left.pid, flush=True)
    return left.pid


@job(model="thread")
def thread_starts(path: str, seconds: int = FOREVER) -> None:
    print(subprocess.Popen(["sleep", str(seconds)], start_new_session=True).pid)
    wait_here_for(path)


@job(model="thread")
def thread_runs() -> int:
    print("waiting")
    return subprocess.run(["sleep", str(FOREVER)]).returncode


@job
async def async_runs() -> None:
    print("waiting")
    process = await asyncio.create_subprocess_exec("sleep", str(FOREVER), start_new_session=True)
    print(process.pid)
    await process.wait()


@job
async def async_upstream(context: object) -> object:
    return context.upstream_results


@job(model="process")
def process_upstream(context: object) -> object:
    return context.upstream_results


@job(model="process", pooled=True)
def pooled_upstream(context: object) -> object:
    return context.upstream_results


@job
async def async_hogs(path: str) -> None:
    print("waiting")
    sum(range(10**11))  # in C, without ever letting another thread go on


@job(model="thread")
def thread_in_thread() -> None:
    inner = threading.Thread(target=print, args=("from a thread of its own",))
    inner.start()
    inner.join()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(print, "from a pool")


@job
async def async_sleeps() -> None:
    """As time.sleep(30) does, but no longer than its test lasts."""
    wait_here_for(f"{settings.DATA_DIR}/free")


@job
async def async_exits() -> None:
    os._exit(3)


@job(model="thread")
def thread_deaf() -> None:
    print("waiting")
    time.sleep(FOREVER)


@job(model="process", pooled=True)
def pooled_segfaults(path: str) -> None:
    """When it is told to end."""
    signal.signal(signal.SIGTERM, lambda *_: ctypes.string_at(0))
    print("waiting", flush=True)
    wait_here_for(path)


SLEEP = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
HEADLESS = """
import ctypes, os, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
print("ready", flush=True)
ctypes.CDLL(None).syscall({"x86_64": 60}.get(os.uname().machine, 93), 0)
"""
DEAF = ["sh", "-c", "trap '' TERM; sleep 600 & wait"]


def fork_twice() -> int:
    """A daemon as books have it."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if (pid := os.fork()) == 0:
            time.sleep(FOREVER)
        os.write(write, str(pid).encode())
        os._exit(0)
    return int(os.read(read, 20))


def multiprocess(method: str) -> int:
    process = multiprocessing.get_context(method).Process(target=time.sleep, args=(FOREVER,))
    process.start()
    return process.pid


def by_a_thread() -> int:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: subprocess.Popen(["sleep", str(FOREVER)]).pid).result()


def leave_alone() -> int:
    """Nothing is left by which it is known but what it descends from."""
    command = "setsid sh -c 'echo $$; exec sleep 600' & exec sleep 600"
    return int(subprocess.Popen(["sh", "-c", command], env={"PATH": os.environ["PATH"]}, stdout=-1).stdout.readline())


def headless() -> int:
    """Its first thread has ended: it looks like one that is dead."""
    left = subprocess.Popen([sys.executable, "-c", HEADLESS], stdout=-1)
    left.stdout.readline()
    return left.pid


def orphan() -> int:
    """Not even that."""
    command = "env -i setsid sh -c 'echo $$; exec sleep 600 >/dev/null' &"
    return int(subprocess.run(["sh", "-c", command], stdout=-1, check=True).stdout.split()[0])


WAYS = {
    "subprocess": lambda: subprocess.Popen(["sleep", str(FOREVER)]).pid,
    "deaf": lambda: subprocess.Popen(DEAF, start_new_session=True).pid,
    "posix_spawn": lambda: os.posix_spawn("/bin/sleep", ["sleep", str(FOREVER)], {}),
    "fork": lambda: os.fork() or time.sleep(FOREVER),
    "fork twice": fork_twice,
    "multiprocessing fork": lambda: multiprocess("fork"),
    "multiprocessing spawn": lambda: multiprocess("spawn"),
    "multiprocessing forkserver": lambda: multiprocess("forkserver"),
    "thread": by_a_thread,
    "headless": headless,
    "alone": leave_alone,
    "orphan": orphan,
}


def start_all(ways: list[str]) -> None:
    for way in ways:
        print(WAYS[way](), flush=True)
    print("waiting", flush=True)


@job(model="thread")
def thread_leaves(ways: list[str], path: str) -> None:
    start_all(ways)
    wait_here_for(path)


@job
async def async_leaves(ways: list[str], path: str) -> None:
    print((await asyncio.create_subprocess_exec("sleep", str(FOREVER), start_new_session=True)).pid)
    await asyncio.to_thread(start_all, ways)
    await wait_for(path)


CHANGES = {
    "os.chdir": lambda: os.chdir("/"),
    "os.umask": lambda: os.umask(0),
    "os.nice": lambda: os.nice(1),
    "os.close": lambda: os.close(1),
    "os.dup2": lambda: os.dup2(0, fd2=2),
    "os.closerange": lambda: os.closerange(3, 100),
    "os.sched_setaffinity": lambda: os.sched_setaffinity(0, [0]),
    "sys.settrace": lambda: sys.settrace(lambda *_: 1 // 0),
    "sys.setrecursionlimit": lambda: sys.setrecursionlimit(50),
    "locale.setlocale": lambda: locale.setlocale(locale.LC_ALL, locale="C"),
    "a signal": lambda: [os.kill(os.getpid(), number) for number in (signal.SIGALRM, signal.SIGUSR1, signal.SIGHUP)],
    "its own pipe": lambda: [os.close(os.dup2(fd=0, fd2=fd)) for fd in os.pipe()],
    "a look": lambda: locale.setlocale(category=locale.LC_ALL),
    "a fork": lambda: multiprocessing.get_context("fork").Process(target=os.chdir, args=("/",)).start(),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
}


@job(model="thread")
def thread_changes(what: str) -> None:
    CHANGES[what]()


@job
async def async_changes(what: str) -> None:
    CHANGES[what]()


@job(model="thread")
def thread_redirects(path: str) -> str:
    print("waiting")
    with contextlib.redirect_stdout(io.StringIO()) as taken:
        print("inside")
        wait_here_for(path)
    print("outside")
    return taken.getvalue()


@job
async def async_forks_and_awaits(path: str) -> str:
    done = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(done.set_result, None)
    pid = os.fork()
    await done
    if pid == 0:
        open(path, "w").close()
    return f"{os.waitpid(pid, 0)[1] >> 8}"


@job(model="thread")
def thread_starts_again() -> None:
    print("waiting")
    while True:
        subprocess.run(["sleep", str(FOREVER)])


def keep(output: Path, path: str) -> None:
    (output / "rows.csv").write_text("1,2")
    (output / "large").write_bytes(bytes(3000))
    print("waiting", flush=True)
    if path:
        wait_here_for(path)


@job
async def async_keeps(context: object, path: str = "") -> None:
    await asyncio.to_thread(keep, context.output, path)


@job(model="thread")
def thread_keeps(context: object, path: str = "") -> None:
    keep(context.output, path)


@job(model="process", pooled=True)
def pooled_keeps(context: object, path: str = "") -> None:
    keep(context.output, path)


def flood(output: Path) -> None:
    with (output / "flood").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 120 << 20)
    print("waiting", flush=True)


@job
async def async_floods(context: object) -> None:
    flood(context.output)
    await asyncio.sleep(FOREVER)


@job(model="process", pooled=True)
def pooled_floods(context: object) -> None:
    flood(context.output)
    time.sleep(FOREVER)


@job(model="process")
def process_keeps(context: object, path: str = "") -> None:
    keep(context.output, path)


@job(model="process", pooled=True)
def pooled_leaves_all(ways: list[str], path: str) -> None:
    start_all(ways)
    wait_here_for(path)
