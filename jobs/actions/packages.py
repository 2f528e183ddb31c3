"""Reads the Python version and the packages of a job, and what its script says of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jobs.actions.reading import MOST_FAULTS, Reader, fault_of, shown
from jobs.models import Job
from jobs.packages import (
    REQUIREMENT_EXPECTED,
    VERSION_EXPECTED,
    InvalidRequirements,
    read_requirement,
    read_version,
    script_block,
)

MOST_REQUIREMENTS = 200
LONGEST_REQUIREMENT = 500


def read_packages(reader: Reader, kind: str, body: str) -> dict[str, Any]:
    """`python_version` and `requirements` of a JobSpec. A script's own block is checked, and stays in the script."""
    version, requirements = _read_version(reader), _read_requirements(reader)
    if kind == Job.Kind.CALLABLE:
        _refuse_for_callable(reader)
    if kind == Job.Kind.SCRIPT:
        try:
            script_block(body)
        except InvalidRequirements as refusal:
            reader.refuse("script_content", "a block as PEP 723 has it", str(refusal))
    return {"python_version": version, "requirements": requirements}


def _read_version(reader: Reader) -> str:
    given = reader.text("python_version", longest=20)
    version = read_version(given) if given else ""
    if version is None:
        reader.expected("python_version", VERSION_EXPECTED)
    return version or ""


def _read_requirements(reader: Reader) -> tuple[str, ...]:
    given = reader.raw.get("requirements")
    if given is None:
        return ()
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) > MOST_REQUIREMENTS:
        reader.expected("requirements", f"a list of at most {MOST_REQUIREMENTS} packages")
        return ()
    found: list[str] = []
    faults: list[str] = []
    for one in given:
        try:
            found.append(read_requirement(_text(one)))
        except InvalidRequirements as refusal:
            faults.append(str(refusal))
    for sentence in faults[:MOST_FAULTS]:
        reader.refuse("requirements", REQUIREMENT_EXPECTED, f"requirements: {sentence}")
    return () if faults else tuple(dict.fromkeys(filter(None, found)))


def _text(one: object) -> str:
    if not isinstance(one, str) or len(one) > LONGEST_REQUIREMENT:
        limit = f"text of at most {LONGEST_REQUIREMENT} characters"
        raise InvalidRequirements("", f"{shown(one)} is not {limit}.")
    if fault := fault_of(one):
        raise InvalidRequirements(one, f"{shown(one)} contains {fault}; remove it.")
    return one


def _refuse_for_callable(reader: Reader) -> None:
    for field in ("python_version", "requirements"):
        if reader.raw.get(field):
            sentence = f"{field} is given, but a callable runs with the project's own packages; leave it out."
            reader.refuse(field, "nothing, for a callable", sentence)
