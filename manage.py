#!/usr/bin/env python3
"""The command line of Rota: `python manage.py help` lists the commands."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_site.settings")
    from django.core.management import execute_from_command_line

    from scheduler_site.environment import SettingError

    try:
        execute_from_command_line(sys.argv)
    except SettingError as error:
        sys.stderr.write(f"manage.py: {error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
