"""Secret values on their way from the service to a job: as the memory of a file that has no name and no other reader,
passed from process to process over the launcher's socket. Standard library only.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field

SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


@dataclass(frozen=True, slots=True)
class GivenSecret:
    """variable: of the job's environment, with the value, or as_file: with the path of a file that holds it.
    name: that of the secret.
    """

    variable: str
    value: str = field(repr=False)
    as_file: bool = False
    name: str = ""


class SecretsMissingError(OSError):
    """The job is to have secrets, and none came: somebody had no descriptor left for them."""

    def __init__(self) -> None:
        super().__init__("its secrets did not reach its runner: too few file descriptors")


def sealed(secrets: Sequence[GivenSecret]) -> int:
    """A descriptor to pass on. OSError if the machine has none left, or no memory."""
    fd = os.memfd_create("rota-secrets", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with os.fdopen(fd, "wb", closefd=False) as file:
            file.write(json.dumps([[one.variable, one.value, one.as_file, one.name] for one in secrets]).encode())
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)
    except OSError:
        os.close(fd)
        raise
    return fd


def unsealed(fd: int) -> list[GivenSecret]:
    """What `sealed` was given. Closes the descriptor."""
    with os.fdopen(fd, "rb") as file:
        file.seek(0)
        return [GivenSecret(*one) for one in json.load(file)]
