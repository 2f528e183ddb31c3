"""One process per attempt: claims it, lives it, writes how it ended, clears up. It needs nothing from the service and
outlives it. Standard library only.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable

from jobs.execution import cgroups, secretfiles
from jobs.execution.attempt import Attempt
from jobs.execution.claim import claim_as_runner
from jobs.execution.ending import end_all
from jobs.execution.foldertree import remove_tree
from jobs.execution.mask import Mask
from jobs.execution.own import Own
from jobs.execution.rundir import RESULT, SPEC, WORK, RunDir
from jobs.execution.secrets import GivenSecret, SecretsMissingError, unsealed
from jobs.execution.spec import Result, Spec

RESERVE_BYTES = 16_384
RESULT_TRIES, RESULT_PAUSE_SECONDS = 300, 1.0  # a full or broken disk is given five minutes


def run(path: str, notes: int, begun: Own, given: int | None = None) -> bool:
    """Run the attempt in `path`, unless somebody else may: see claim.py. `notes`: socket to the service. `begun`: what
    this process was like. `given`: secrets of the attempt, sealed. False if this process should have no other.
    """
    try:
        rundir = RunDir(path)
    except FileNotFoundError:  # recovery has removed it
        return True
    if claim_as_runner(rundir) is None:
        return True
    reserve_result(rundir)
    spec, result, make_room = live(rundir, notes, begun, given)
    report(rundir, result, make_room)
    if spec:
        cgroups.remove(spec.cgroups, spec.token)
    if spec and not spec.keep_workspace:
        clear_workspace(rundir)
    return result.kind != "lost"


def live(
    rundir: RunDir, notes: int, begun: Own, given: int | None = None
) -> tuple[Spec | None, Result, Callable[[], bool]]:
    """Whatever goes wrong in here, the attempt gets a result, and nothing of it is left alive nor of its secrets."""
    spec = attempt = None
    mask, folder = Mask(()), ""
    try:
        spec = Spec.from_json(rundir.read_json(SPEC) or {})
        secrets = received(spec, given)
        folder = secretfiles.folder_of(rundir.path) if secrets else ""  # now: a job may remove what leads there
        mask = Mask(one.value for one in secrets)
        attempt = Attempt(rundir, spec, notes, begun, secrets, mask)
        return spec, attempt.run(), attempt.log.drop_oldest
    except Exception as error:  # noqa: BLE001 the executor's border: everything becomes an outcome
        traceback.print_exc()
        end_all()
        sentence = mask.text(f"the runner failed, {type(error).__name__}: {error}")
        token = spec.token if spec else ""
        started_at = attempt.started_at if attempt else None
        refused = isinstance(error, OSError) and started_at is None
        result = Result(token, "lost", time.time(), sentence, started_at=started_at, node_refused=refused)
        return spec, result, lambda: False
    finally:
        if attempt:
            attempt.close()
        if folder:
            secretfiles.remove(folder)


def received(spec: Spec, given: int | None) -> list[GivenSecret]:
    secrets = [] if given is None else unsealed(given)
    if spec.secrets and not secrets:
        raise SecretsMissingError
    return secrets


# --- The result ---


def reserve_result(rundir: RunDir) -> None:
    """Take the space that the result will need now: the job may fill the disk. `RunDir.write` writes into it."""
    fd = rundir.open(f"{RESULT}.tmp", os.O_WRONLY | os.O_CREAT)
    try:
        os.posix_fallocate(fd, 0, RESERVE_BYTES)
    except OSError as error:
        print(f"{rundir.path}: no space kept for the result: {error.strerror}", file=sys.stderr)  # noqa: T201 a log
    finally:
        os.close(fd)


def report(rundir: RunDir, result: Result, make_room: Callable[[], bool]) -> None:
    """Write the result; if the disk refuses even the space that was kept, by giving up old output, then by waiting.
    OSError if nothing helped: then the attempt is found to be lost, as where somebody has removed the run directory.
    """
    for _ in range(RESULT_TRIES):
        try:
            return rundir.write_json(RESULT, result.to_json(), durable=True)
        except FileNotFoundError:
            return print(f"{rundir.path} was removed while its attempt ran", file=sys.stderr)  # noqa: T201 a log
        except OSError as error:
            refusal = error
        if not make_room():
            time.sleep(RESULT_PAUSE_SECONDS)
    raise refusal


def clear_workspace(rundir: RunDir) -> None:
    """By the descriptor: its job may have moved the run directory, and put a link in its place."""
    path = f"/proc/self/fd/{rundir.fd}/{WORK}"
    try:
        os.rmdir(path)  # noqa: PTH106 pathlib costs start-up
    except FileNotFoundError:  # the job has removed it
        return
    except OSError:
        try:
            remove_tree(path)
        except OSError as error:
            print(f"the workspace in {rundir.path} could not be removed: {error}", file=sys.stderr)  # noqa: T201 a log
