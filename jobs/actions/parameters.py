"""Reads which parameters a job declares, and the values that it or one of its runs gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobs.actions.answers import InvalidInput, Problem
from jobs.actions.reading import Reader, shown
from jobs.callables import registry
from jobs.models import Job
from jobs.parameters.faults import Fault, InvalidParameters
from jobs.parameters.masking import masks_in, unmasked
from jobs.parameters.schema import check_schema
from jobs.parameters.values import check_values, defaults_of, lacking, resolve
from jobs.parameters.written import NotJson, read_json
from jobs.store.specs import JobSpec

PARAMETER_FIELDS = ("parameters", "parameter_values")
OBJECT = "an object of values by the names of parameters"


def read_parameters(
    reader: Reader, kind: str, body: str, before: JobSpec | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema, and the values of the job, which may leave to its runs what these must give then.

    A value that is masked means the one that is stored in `before`.
    """
    schema = _read_schema(reader, kind, body, before)
    given = reader.raw.get("parameter_values")
    if given is None or schema is None:
        return schema or {}, {}
    if not isinstance(given, Mapping):
        _refuse_text(reader, "parameter_values", OBJECT)
        return schema, {}
    values = unmasked(given, before.parameter_values if before else {})
    try:
        return schema, _without_masks(check_values(schema, values))
    except InvalidParameters as refusal:
        reader.problems += problems_of(refusal, "parameter_values")
        return schema, {}


def refuse_lacking(reader: Reader, spec: JobSpec) -> None:
    """Nobody is asked when a schedule, or the end of other jobs, makes a run."""
    if reader.problems or (spec.schedule is None and not spec.upstreams):
        return
    for fault in lacking(spec.parameters, spec.parameter_values):
        sentence = f"{fault.sentence} The job runs by itself, when nobody can be asked."
        reader.problems.append(Problem(f"parameter_values.{fault.name}", fault.given, fault.expected, sentence))


def values_for_run(job: Job, given: object, before: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
    """The complete values of a run that is given these; None of a job that takes none. Raises InvalidInput.

    A value that is masked means the one in `before`, else the job's.
    """
    if given is not None and not isinstance(given, Mapping):
        sentence = f"parameters is {shown(given)}, expected {OBJECT}."
        raise InvalidInput([Problem("parameters", shown(given), OBJECT, sentence)])
    if not job.parameters and not given:
        return None
    stored = {**defaults_of(job.parameters), **job.parameter_values, **(before or {})}
    try:
        return _without_masks(resolve(job.parameters, job.parameter_values, unmasked(given or {}, stored)))
    except InvalidParameters as refusal:
        raise InvalidInput(problems_of(refusal, "parameters")) from refusal


def check_own_values(job: Job) -> None:
    """That a run of the job which says nothing has all that it must have. Raises InvalidInput, which names the job."""
    try:
        resolve(job.parameters, job.parameter_values, None)
    except InvalidParameters as refusal:
        said = f"{job.name}: {refusal} Give the job values for them, or run it alone with parameters."
        raise InvalidInput([Problem("parameters", "nothing", OBJECT, said)]) from refusal


def problems_of(refusal: InvalidParameters, field: str) -> list[Problem]:
    """By field: `field` with the name of the parameter, or alone where no parameter is at fault by itself."""
    return [
        Problem(f"{field}.{fault.name}" if fault.name else field, fault.given, fault.expected, fault.sentence)
        for fault in refusal.faults
    ]


def _read_schema(reader: Reader, kind: str, body: str, before: JobSpec | None) -> dict[str, Any] | None:
    """None if it is refused."""
    given = reader.raw.get("parameters")
    if kind == Job.Kind.CALLABLE:
        return _schema_of_callable(reader, body, before, given)
    if given is None:
        return {}
    if isinstance(given, str):
        _refuse_text(reader, "parameters", "a JSON Schema")
        return None
    try:
        return check_schema(given)
    except InvalidParameters as refusal:
        reader.problems += [
            Problem("parameters", fault.given, fault.expected, fault.sentence) for fault in refusal.faults
        ]
        return None


def _schema_of_callable(reader: Reader, body: str, before: JobSpec | None, given: object) -> dict[str, Any] | None:
    stored = before.parameters if before and before.body == body else {}
    found = registry.get(body)
    schema = found.schema if found else stored
    if given in (None, schema, stored):
        return schema
    sentence = "parameters is given, but a callable takes what its signature says; leave it out."
    reader.refuse("parameters", "nothing", sentence)
    return None


def _refuse_text(reader: Reader, field: str, expected: str) -> None:
    """A form hands on what is no JSON as it was typed."""
    given = reader.raw[field]
    try:
        read_json(given if isinstance(given, str) else "{}")
    except NotJson as error:
        reader.refuse(field, expected, f"{field} is no JSON: {error}; expected {expected}.")
    else:
        reader.expected(field, expected)


def _without_masks(values: dict[str, Any]) -> dict[str, Any]:
    if faults := [
        Fault(name, shown(name), "the value itself", f"{name} has a mask for which no value is stored; give the value.")
        for name in masks_in(values)
    ]:
        raise InvalidParameters(faults)
    return values
