"""Removing what a job has had in its hands. Standard library only."""

from __future__ import annotations

import os
import shutil


def clear_workspace(path: str) -> None:
    try:
        os.rmdir(path)  # noqa: PTH106 pathlib costs start-up
    except OSError:
        remove_tree(path)


def remove_tree(path: str) -> None:
    """Remove it, though the job may have taken its own right to do so."""
    try:
        shutil.rmtree(path)
    except PermissionError:
        for folder, _, _ in os.walk(path):
            os.chmod(folder, 0o700)  # noqa: PTH101 pathlib costs start-up
        shutil.rmtree(path)
