"""What a job's Python needs, as its fields and the script itself say it: PEP 508 lines, and the block of PEP 723.

Both together count. Where they contradict each other the resolver says so when the environment is made.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from jobs.core.packages import PackagesNeeded

BLOCK_BEGINS, BLOCK_ENDS = "# /// script", "# ///"
BYTE_ORDER_MARK = "\ufeff"  # what some editors begin a file with
NAME = re.compile(r"[A-Za-z0-9._-]+")
VERSION = re.compile(r"3\.[0-9]{1,3}(\.[0-9]{1,3})?")
OLDEST = (3, 8)  # for which uv makes environments
HAS_OPTION = re.compile(r"\s--?[A-Za-z]")
# uv takes the name of an archive, too, for a file, and a single name without a slash would be one in its folder.
PATH_BEGINS = re.compile(r"[\w.-]+[/\\]|[\w.+!-]+\.(whl|zip|tgz|tbz|txz|tlz|tar(\.\w+)?)(?![\w.-])")
VERSION_EXPECTED = "a version such as 3.12 or 3.12.4, 3.8 or later"
REQUIREMENT_EXPECTED = "a package as pip has it, such as requests or pandas>=2.2,<3"


class InvalidRequirements(ValueError):
    """Says what is wrong with one line, or with a script's block. `given` is the line."""

    def __init__(self, given: str, sentence: str) -> None:
        super().__init__(sentence)
        self.given = given


@dataclass(frozen=True, slots=True)
class ScriptBlock:
    """What a script says of itself: its `requires-python` and its `dependencies`."""

    python: str = ""
    requirements: tuple[str, ...] = ()


def needed(version: str, requirements: Iterable[str], block: ScriptBlock | None = None) -> PackagesNeeded:
    """By the fields of a job, as they are stored, and what its script says."""
    block = block or ScriptBlock()
    pythons = [f"=={version}.*" if version.count(".") == 1 else f"=={version}"] if version else []
    python = ",".join([*pythons, *([block.python] if block.python else [])])
    return PackagesNeeded(python, tuple(sorted({in_one_spelling(one) for one in (*requirements, *block.requirements)})))


def in_one_spelling(requirement: str) -> str:
    """Of names that are one and the same, as PEP 503 has it: `Ruamel_Yaml>=0.18` is `ruamel-yaml>=0.18`."""
    return NAME.sub(lambda name: re.sub(r"[._-]+", "-", name[0]).lower(), requirement, count=1)


def read_version(given: str) -> str | None:
    """The version, trimmed; None if it is none that an environment can be made for."""
    version = given.strip()
    if not VERSION.fullmatch(version) or tuple(map(int, version.split(".")[:2])) < OLDEST:
        return None
    return version


def read_requirement(line: str) -> str:
    """One line, trimmed and in one spelling; empty for a blank one or a comment. Raises InvalidRequirements."""
    text = re.sub(r"(^|\s)#.*$", "", line).strip()
    if not text:
        return ""
    shown = text[:100]
    if text.startswith("-"):
        raise InvalidRequirements(text, f"{shown} is an option of pip; list packages only, each as in pandas>=2.2.")
    if HAS_OPTION.search(text):
        raise InvalidRequirements(text, f"{shown} has an option of pip; list packages only, each as in pandas>=2.2.")
    if text.startswith((".", "/", "~", "file:")) or PATH_BEGINS.match(text):
        raise InvalidRequirements(text, f"{shown} is a path; list packages by name, as the node's index has them.")
    if re.match(r"[a-z+]+://", text):
        raise InvalidRequirements(text, f"{shown} is an address; list packages by name, as the node's index has them.")
    try:
        found = Requirement(text)
    except InvalidRequirement as error:
        why = str(error).splitlines()[0]
        raise InvalidRequirements(text, f"{shown} is not {REQUIREMENT_EXPECTED}: {why}.") from error
    if found.url:
        sentence = f"{shown} is fetched from an address; give its version instead, as the node's index has it."
        raise InvalidRequirements(text, sentence)
    return str(found)


def script_block(text: str) -> ScriptBlock | None:
    """What the script says of itself, None if nothing. Raises InvalidRequirements for what cannot be read."""
    lines = text.removeprefix(BYTE_ORDER_MARK).splitlines()
    begins = [number for number, line in enumerate(lines) if line == BLOCK_BEGINS]
    if not begins:
        return None
    if len(begins) > 1:
        where = f"lines {begins[0] + 1} and {begins[1] + 1}"
        raise InvalidRequirements(BLOCK_BEGINS, f"The script has two blocks {BLOCK_BEGINS}, in {where}; leave one.")
    return _block(_content(lines, begins[0]))


def _content(lines: list[str], begin: int) -> str:
    """The block ends with the last end mark of the comment lines that follow each other."""
    commented = []
    for line in lines[begin + 1 :]:
        if line != "#" and not line.startswith("# "):
            break
        commented.append(line)
    ends = [number for number, line in enumerate(commented) if line == BLOCK_ENDS]
    if not ends:
        sentence = f"The block {BLOCK_BEGINS} in line {begin + 1} has no end; close it with a line {BLOCK_ENDS}"
        raise InvalidRequirements(BLOCK_BEGINS, sentence)
    return "\n".join(line[2:] for line in commented[: ends[-1]])


def _block(content: str) -> ScriptBlock:
    try:
        said = tomllib.loads(content)
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, or a number of five thousand digits
        raise InvalidRequirements(BLOCK_BEGINS, f"The block {BLOCK_BEGINS} is not TOML: {error}.") from error
    listed, python = said.get("dependencies", []), said.get("requires-python", "")
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise InvalidRequirements(BLOCK_BEGINS, f"dependencies of the block {BLOCK_BEGINS} is not a list of texts.")
    try:
        versions = str(SpecifierSet(python))
    except (InvalidSpecifier, TypeError, AttributeError) as error:
        sentence = (
            f"requires-python of the block {BLOCK_BEGINS} is {str(python)[:40]!r}, expected versions as in >=3.11."
        )
        raise InvalidRequirements(BLOCK_BEGINS, sentence) from error
    return ScriptBlock(versions, tuple(filter(None, map(read_requirement, listed))))
