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

FILE, FILE_VARIABLE = "parameters.json", "ROTA_PARAMETERS_FILE"
PREFIX = "ROTA_PARAM_"
LARGEST_VARIABLE = 128 * 1024 - 1  # bytes of NAME=value that exec takes


def variable_of(name: str) -> str:
    """The variable that the parameter is in: in capitals, all but letters, digits and _ of ASCII as _."""
    return PREFIX + re.sub("[^A-Z0-9_]", "_", name.upper())


def text_of(value: object) -> str:
    """A text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def variables_of(parameters: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """The variables, and the names of parameters whose values exec would not take: these are in the file only."""
    left, variables, too_large = os.sysconf("SC_ARG_MAX") // 2, {}, []
    for name, value in parameters.items():
        variable, text = variable_of(name), text_of(value)
        size = len(variable) + 1 + len(text.encode())
        if size > min(LARGEST_VARIABLE, left):
            too_large.append(name)
        else:
            variables[variable] = text
            left -= size
    return variables, too_large
