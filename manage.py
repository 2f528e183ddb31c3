#!/usr/bin/env python3
"""The command line of Rota: `.venv/bin/python manage.py help` lists the commands."""

import os
import sys

from scheduler_site import inherited

REFUSED = 2
INTERRUPTED = 130  # as shells say it of Ctrl-C


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036  # whoever types `python3 manage.py` may have an older one
        refuse(
            f"Rota needs Python 3.11 or newer, this is {sys.version.split()[0]}; `make setup` looks for a newer one."
        )
    inherited.undo()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_site.settings")
    try:
        from django.core.management import execute_from_command_line

        from scheduler_site.environment import Refusal
    except ModuleNotFoundError as error:
        refuse(f"{error.name} is not installed for {sys.executable}; run `make setup`, then use .venv/bin/python.")

    try:
        execute_from_command_line(sys.argv)
    except Refusal as refusal:
        refuse(str(refusal))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def refuse(sentence: str) -> None:
    sys.stderr.write(f"rota: {sentence}\n")
    sys.exit(REFUSED)


if __name__ == "__main__":
    main()
