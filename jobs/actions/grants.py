"""Reads which secrets a job is given, as which variables."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from jobs.actions.answers import Problem
from jobs.actions.bodies import RESERVED, VARIABLE
from jobs.actions.reading import Reader, shown
from jobs.core.near import did_you_mean
from jobs.models import Secret
from jobs.parameters.checking import HIDDEN
from jobs.store.specs import SecretUse

MOST_SECRETS = 50
LONGEST_VARIABLE = 100
USE_FIELDS = ("name", "variable", "file")
EXPECTED = "a list of names, or of objects with name, variable and file"
AS_FILE = " (file)"  # behind a name, where a form has a line for each


def read_secrets(reader: Reader, variables: Collection[str]) -> tuple[SecretUse, ...]:
    """`variables`: names that the job sets itself. A name alone is given as the variable of that name in capitals."""
    given = reader.raw.get("secrets")
    if given is None:
        return ()
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) > MOST_SECRETS:
        expected = f"{EXPECTED}, at most {MOST_SECRETS}"
        _refuse(reader, expected, f"secrets is {_told(given)}, expected {expected}.")
        return ()
    known = list(Secret.objects.values_list("name", flat=True)) if given else []
    uses: dict[str, SecretUse] = {}
    for one in given:
        use = _read(reader, one, known)
        if use and (fault := _fault_of_variable(use.variable, variables, uses)):
            _refuse(reader, "another variable", f"secrets gives {use.name} as {shown(use.variable)}, {fault}")
        elif use:
            uses[use.variable] = use
    return tuple(uses[variable] for variable in sorted(uses))


def raw_of_uses(uses: Sequence[SecretUse]) -> list[dict[str, Any]]:
    return [{"name": use.name, "variable": use.variable, "file": use.as_file} for use in uses]


def text_of_uses(raw: Sequence[Mapping[str, Any]]) -> str:
    """A line VARIABLE=name each, as `uses_in_text` reads it."""
    return "\n".join(f"{one['variable']}={one['name']}{AS_FILE if one['file'] else ''}" for one in raw)


def uses_in_text(text: str) -> list[Any]:
    uses: list[Any] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        variable, mark, name = line.removesuffix(AS_FILE).partition("=")
        use = {"name": name.strip(), "variable": variable.strip()} if mark else {"name": variable.strip()}
        uses.append({**use, "file": line.endswith(AS_FILE)})
    return uses


def variable_of(name: str) -> str:
    return re.sub(r"[^A-Z0-9_]", "_", name.upper())


def _read(reader: Reader, one: object, known: Sequence[str]) -> SecretUse | None:
    raw = {"name": one} if isinstance(one, str) else one
    if not isinstance(raw, Mapping) or set(raw) - set(USE_FIELDS):
        _refuse(reader, EXPECTED, f"secrets has {_told(one)}, expected {EXPECTED}.")
        return None
    name, variable, as_file = raw.get("name"), raw.get("variable"), raw.get("file")
    if name is None:
        _refuse(reader, "the name of a secret", f"secrets has {_told(raw)}, which names no secret; give its name.")
        return None
    if not isinstance(name, str) or name not in known:
        hint = did_you_mean(str(name), known, "make it first, on the page of secrets or by the API.")
        _refuse(reader, "the name of a secret", f"There is no secret {shown(name)}; {hint}")
        return None
    if variable is not None and not isinstance(variable, str):
        _refuse(reader, "text", f"secrets gives {name} as variable {shown(variable)}, expected text.")
        return None
    if as_file is not None and not isinstance(as_file, bool):
        _refuse(reader, "true or false", f"secrets gives {name} with file {shown(as_file)}, expected true or false.")
        return None
    return SecretUse((variable or "").strip() or variable_of(name), name, bool(as_file))


def _fault_of_variable(variable: str, variables: Collection[str], uses: Collection[str]) -> str:
    if not VARIABLE.fullmatch(variable) or len(variable) > LONGEST_VARIABLE:
        return f"but a variable has up to {LONGEST_VARIABLE} letters, digits and _, not beginning with a digit."
    if variable.startswith("ROTA_") or variable in RESERVED:
        return "which Rota sets itself; take another."
    if variable in variables:
        return "which the job's environment sets; take another, or take that out."
    return "as it does another; take another." if variable in uses else ""


def _told(given: object) -> str:
    """By its shape: who takes the field for that of the values has a secret in it."""
    if isinstance(given, Mapping):
        return f"an object with {', '.join(map(shown, given)) or 'nothing'}"
    if isinstance(given, Sequence):
        return "text" if isinstance(given, str) else f"a list of {len(given)}"
    return shown(given)


def _refuse(reader: Reader, expected: str, sentence: str) -> None:
    reader.problems.append(Problem("secrets", HIDDEN, expected, sentence))
