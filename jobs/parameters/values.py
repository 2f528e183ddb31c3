"""The values that a run gets: what it says itself, else what the job says, else the defaults of the schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobs.core.texts import UNPRINTABLE, shown
from jobs.execution.parameters import variable_of
from jobs.parameters.checking import fault_of_value, json_bytes, refusal
from jobs.parameters.expected import expected_of, types_of
from jobs.parameters.faults import Fault, InvalidParameters
from jobs.parameters.schema import LONGEST_NAME, MOST_PARAMETERS, properties_of

LARGEST_VALUES = 1_000_000  # bytes of the JSON of all together


def resolve(
    schema: Mapping[str, Any], job_values: Mapping[str, Any], run_values: Mapping[str, Any] | None
) -> dict[str, Any]:
    """All values, complete with defaults, in the order in which the schema declares them.

    `schema` is one that `check_schema` has passed. A parameter that is not required and has no default may be left
    out, and is not in the answer then. Raises InvalidParameters, with one fault for each parameter that has one.
    """
    given = {**defaults_of(schema), **job_values, **(run_values or {})}
    return _checked(schema, given, lacking(schema, given))


def check_values(schema: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are given, as `resolve` would take them; others may still be missing. Raises InvalidParameters."""
    return _checked(schema, values, [])


def lacking(schema: Mapping[str, Any], values: Mapping[str, Any]) -> list[Fault]:
    """The required parameters that would have no value."""
    given = {**defaults_of(schema), **values}
    return [_lacking(schema, name) for name in schema.get("required", ()) if name not in given]


def defaults_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one["default"] for name, one in properties_of(schema).items() if "default" in one}


def _checked(schema: Mapping[str, Any], given: Mapping[str, Any], lacking: list[Fault]) -> dict[str, Any]:
    declared = properties_of(schema)
    found = {name: _fault(schema, name, value) for name, value in given.items()}
    if faults := [fault for fault in found.values() if fault] + lacking:
        raise InvalidParameters(faults)
    if (size := json_bytes(given)) > LARGEST_VALUES:
        sentence = f"The values have {size:,} bytes, expected at most {LARGEST_VALUES:,}; put the data into a file."
        raise InvalidParameters([Fault("", f"{size:,} bytes", f"at most {LARGEST_VALUES:,} bytes", sentence)])
    if clashes := list(_clashes(declared, given)):
        raise InvalidParameters(clashes)
    ordered = [name for name in declared if name in given] + [name for name in given if name not in declared]
    return {name: _whole(declared.get(name, {}), given[name]) for name in ordered}


def _fault(schema: Mapping[str, Any], name: str, value: object) -> Fault | None:
    declared = properties_of(schema)
    if name in declared:
        return fault_of_value(name, declared[name], _whole(declared[name], value))
    others = schema.get("additionalProperties", False)
    if others is False or not name or len(name) > LONGEST_NAME or UNPRINTABLE.search(name):
        known = ", ".join(declared)
        takes = f"it takes {known}" if known else "the job takes none"
        return refusal(name, value, known or "nothing", f"There is no parameter {shown(name)}; {takes}.")
    return fault_of_value(name, {} if others is True else others, value)


def _clashes(declared: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[Fault]:
    """Only where a schema takes names that it does not declare: the declared ones were checked when it was stored."""
    if len(given) > max(MOST_PARAMETERS, len(declared)):
        sentence = f"{len(given):,} values were given, expected at most {MOST_PARAMETERS}."
        yield Fault("", f"{len(given):,} values", f"at most {MOST_PARAMETERS}", sentence)
    first = {variable_of(name): name for name in declared}
    for name in given:
        if (other := first.setdefault(variable_of(name), name)) != name:
            sentence = f"{other} and {name} would both be in the variable {variable_of(name)}; rename one of them."
            yield Fault(name, shown(name), "another name", sentence)


def _lacking(schema: Mapping[str, Any], name: str) -> Fault:
    expected = expected_of(properties_of(schema)[name])
    return Fault(name, "nothing", expected, f"{name} has no value, expected {expected}; give one.")


def _whole(schema: Mapping[str, Any], value: Any) -> Any:
    """JSON Schema takes 3.0 for a whole number, which a script would not."""
    kinds = types_of(schema)
    whole = isinstance(value, float) and value.is_integer() and "integer" in kinds and "number" not in kinds
    return int(value) if whole else value
