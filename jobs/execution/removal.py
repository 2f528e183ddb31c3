"""Removing what a job has had in its hands. Standard library only."""

from __future__ import annotations

import os
import shutil


def remove_tree(path: str) -> None:
    """Remove it, though the job may have taken its own right to do so."""
    try:
        shutil.rmtree(path)
    except PermissionError:
        take_back_all(path)
        shutil.rmtree(path)


def take_back_all(path: str) -> None:
    """Give the owner the right to every folder, before it is looked into. A link may lead anywhere."""
    os.chmod(path, 0o700)  # noqa: PTH101 pathlib costs start-up
    for folder, names, _ in os.walk(path):
        for name in names:
            if not os.path.islink(f"{folder}/{name}"):  # noqa: PTH114 as above
                os.chmod(f"{folder}/{name}", 0o700)  # noqa: PTH101 as above
