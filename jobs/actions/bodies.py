"""Reads what a job runs, and the variables that it runs with."""

from __future__ import annotations

import re
from collections.abc import Mapping

from jobs.actions.answers import Problem
from jobs.actions.reading import Reader, fault_of, shown
from jobs.execution import masking
from jobs.models import Job

BODIES = {
    "script_content": Job.Kind.SCRIPT,
    "script_path": Job.Kind.SCRIPT_PATH,
    "command": Job.Kind.COMMAND,
    "callable": Job.Kind.CALLABLE,
}
LONGEST_BODY = {"script_content": 1_000_000, "script_path": 4_000, "command": 100_000, "callable": 500}
BODIES_OF = {"script": ("script_content", "script_path"), "command": ("command",), "callable": ("callable",)}
KIND_OF = {kind: name for name, fields in BODIES_OF.items() for kind in (BODIES[field] for field in fields)}

MOST_VARIABLES = 200
LONGEST_ENVIRONMENT = 100_000
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# What a job finds in its environment about itself must be true.
RESERVED = ("JOB_ID", "JOB_INSTANCE_ID", "CPU_LIMIT", "MEMORY_LIMIT_MB")

# Given back as a value, it means the one that is stored.
MASK = masking.MASK


def read_body(reader: Reader) -> tuple[str, str]:
    """The model's kind and body. Exactly one of the bodies is given, and `kind`, if given, fits it."""
    given = [field for field in BODIES if reader.raw.get(field) not in (None, "")]
    kind = reader.choice("kind", "", BODIES_OF)
    wanted = BODIES_OF.get(kind, tuple(BODIES))
    if len(given) != 1:
        found = " and ".join(given) or "none"
        sentence = f"A job runs one thing: give {' or '.join(wanted)}; given was {found}."
        reader.refuse(given[-1] if given else wanted[0], f"one of {', '.join(wanted)}", sentence)
        return Job.Kind.SCRIPT, ""
    field = given[0]
    if field not in wanted:
        reader.refuse("kind", "the kind of what is given", f"kind is {kind}, but {field} was given; leave kind out.")
    return BODIES[field], _read_text(reader, field)


def _read_text(reader: Reader, field: str) -> str:
    count = len(reader.problems)
    body = reader.text(field, longest=LONGEST_BODY[field], lines=field not in ("script_path", "callable"))
    if len(reader.problems) > count:
        return ""
    if not body.strip():
        reader.refuse(field, "something to run", f"{field} is blank; give what is to run.")
    elif field == "script_path" and not body.startswith("/"):
        reader.refuse(field, "an absolute path", f"script_path is {shown(body)}, expected a path that begins with /.")
    # Browsers send every line of a form with CRLF, and `#!/bin/sh\r` names no program; no more does one after a byte
    # order mark, with which some editors begin a file.
    return body.removeprefix("\ufeff").replace("\r\n", "\n")


def read_environment(reader: Reader, stored: Mapping[str, str]) -> dict[str, str]:
    """Values are secrets: no refusal repeats one. MASK as a value means the one in `stored`."""
    given = reader.raw.get("environment")
    if given is None:
        return {}
    if not isinstance(given, Mapping) or len(given) > MOST_VARIABLES:
        expected = f"a mapping of at most {MOST_VARIABLES} names to texts"
        _refuse(reader, expected, f"environment is not {expected}.")
        return {}
    for name, value in given.items():
        _check_variable(reader, name, value, stored)
    if sum(len(name) + len(str(value)) for name, value in given.items()) > LONGEST_ENVIRONMENT:
        expected = f"at most {LONGEST_ENVIRONMENT:,} characters in all"
        _refuse(reader, expected, f"environment is too long, expected {expected}; put the data in a file.")
    return {name: stored.get(name, value) if value == MASK else value for name, value in given.items()}


def _check_variable(reader: Reader, name: str, value: object, stored: Mapping[str, str]) -> None:
    if not VARIABLE.fullmatch(name):
        rule = "letters, digits and _, not beginning with a digit"
        _refuse(reader, rule, f"environment names a variable {shown(name)}, but a name is {rule}.")
    elif name.startswith("ROTA_") or name in RESERVED:
        _refuse(reader, "another name", f"environment sets {name}, which Rota sets itself; rename it.")
    elif value is None:
        _refuse(reader, "NAME=value", f"The variable {name} has no value; give one, even an empty one.")
    elif not isinstance(value, str):
        _refuse(reader, "text", f'The value of {name} is not text; write it in quotes, such as "1".')
    elif fault := fault_of(value, lines=True):
        _refuse(reader, "text without it", f"The value of {name} contains {fault}; remove it.")
    elif value == MASK and name not in stored:
        _refuse(reader, "the value itself", f"The value of {name} is {MASK}, but none is stored; give the value.")


def _refuse(reader: Reader, expected: str, sentence: str) -> None:
    reader.problems.append(Problem("environment", "(not repeated, it may be secret)", expected, sentence))
