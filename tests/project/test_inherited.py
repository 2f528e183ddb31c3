"""However it is begun, a command has its streams, its signals and a umask that it can live with."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASK = """
import json, os, signal, sys
sys.path.insert(0, sys.argv[1])
from scheduler_site import inherited
inherited.undo()
print("nobody reads this")
print("nor this", file=sys.stderr)
facts = {"streams": [os.readlink(f"/proc/self/fd/{fd}") for fd in range(3)], "umask": os.umask(0),
         "kept": [os.get_inheritable(fd) for fd in range(3)], "blocked": len(signal.pthread_sigmask(0, ()))}
open(sys.argv[2], "w").write(json.dumps(facts))
"""
BLOCK = "import os, signal, sys; signal.pthread_sigmask(0, signal.valid_signals()); os.execv(sys.argv[1], sys.argv[1:])"


@pytest.fixture
def told(tmp_path):
    (answer := tmp_path / "answer").touch()

    def told(*before):
        command = [*before, sys.executable, "-I", "-S", "-c", ASK, str(ROOT), str(answer)]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return json.loads(answer.read_text())

    return told


def test_closed_streams_are_opened(told):
    """What was printed went into the next file that was opened, or ended the command."""
    facts = told("/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh")
    assert (facts["streams"], facts["kept"]) == ([os.devnull] * 3, [True] * 3)


def test_blocked_signals_are_let_in(told):
    """Neither a TERM to the service nor a cancel to its runners came through."""
    assert told(sys.executable, "-c", BLOCK)["blocked"] == 0


@pytest.mark.parametrize(("begun", "then"), [("0", 0o022), ("0777", 0o077), ("0027", 0o027), ("0022", 0o022)])
def test_umask_keeps_our_right_and_gives_no_other_to_write(told, begun, then):
    assert told("/bin/sh", "-c", f'umask {begun}; exec "$@"', "sh")["umask"] == then
