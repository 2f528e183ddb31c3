"""The parameters of the callable that a form of a job has chosen: its fields, and what was typed into them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dashboard.parameterforms import posted_values
from dashboard.presentation.parameters import PREFIX, ParameterField, parameter_fields
from jobs.actions import Problem
from jobs.callables import registry
from jobs.models import Job
from jobs.parameters.masking import masked
from jobs.parameters.values import defaults_of
from jobs.parameters.written import written


def fields_of(
    name: str, job: Job | None, posted: Mapping[str, str] | None = None, problems: Iterable[Problem] = ()
) -> list[ParameterField]:
    """Filled with what was posted, else with what the job says, where it runs this one, else with the defaults."""
    found = registry.get(name)
    if found is None:
        return []
    return parameter_fields(found.schema, _filled(found, job), posted=posted, problems=problems)


def with_values(posted: Mapping[str, str], job: Job | None) -> dict[str, str]:
    """With the values as one text, as all else in the form is. A default stays the code's to say."""
    found = registry.get(posted.get("callable", ""))
    if posted.get("runs") != "callable" or found is None:
        return dict(posted)
    defaults = masked(defaults_of(found.schema))
    filled = _filled(found, job)
    kept = {name: value for name, value in filled.items() if PREFIX + name not in posted}  # was not asked
    values = kept | posted_values(found.schema, posted, filled)
    said = {name: value for name, value in values.items() if not (name in defaults and _same(value, defaults[name]))}
    return {**posted, "parameter_values": written(said) if said else ""}


def _filled(found: registry.Registered, job: Job | None) -> dict[str, Any]:
    own = job.parameter_values if job is not None and job.body == found.name else {}
    return masked({**defaults_of(found.schema), **own})


def _same(one: object, other: object) -> bool:
    """As JSON: true is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
