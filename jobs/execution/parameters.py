"""The parameters of a run as its program finds them: one variable each, and all of them in one file of JSON.

Nothing is put into a command line: no shell sees a value unless the command asks for its variable. Standard library
only.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

FILE_VARIABLE = "ROTA_PARAMETERS_FILE"
PREFIX = "ROTA_PARAM_"
LARGEST_VARIABLE = 128 * 1024 - 1  # bytes of NAME=value that exec takes


def variable_of(name: str) -> str:
    """The variable that the parameter is in: in capitals, all but letters, digits and _ of ASCII as _."""
    return PREFIX + re.sub("[^A-Z0-9_]", "_", name.upper())


def text_of(value: object) -> str:
    """A text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def variables_of(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Without those that exec would not take."""
    variables, _ = _shared_out(parameters)
    return variables


def in_file_only(parameters: Mapping[str, Any]) -> list[str]:
    """Of each parameter that has no variable a sentence that says so."""
    _, sizes = _shared_out(parameters)
    return [
        f"parameter {name} has {size:,} bytes, more than a variable may have beside the others: it is in the file that "
        f"{FILE_VARIABLE} names, and {variable_of(name)} is not set"
        for name, size in sizes.items()
    ]


def _shared_out(parameters: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, int]]:
    """The variables, and the sizes of what is too large for one, or for all together."""
    left = os.sysconf("SC_ARG_MAX") // 2  # the rest of it is for the other variables
    variables: dict[str, str] = {}
    too_large: dict[str, int] = {}
    for name, value in parameters.items():
        variable, text = variable_of(name), text_of(value)
        size = len(variable) + 1 + len(text.encode())
        if size > min(LARGEST_VARIABLE, left):
            too_large[name] = len(text.encode())
        else:
            variables[variable] = text
            left -= size
    return variables, too_large
