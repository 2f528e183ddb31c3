"""Values of parameters as their readers are shown them: the rule is that of variables, by the look of the name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobs.execution import masking
from jobs.execution.masking import MASK, SECRET_NAME


def masked(values: Mapping[str, Any]) -> dict[str, Any]:
    """With a mask for whatever has, or lies under, a name that looks secret, and for passwords in addresses."""
    return {name: _masked(name, value) for name, value in values.items()}


def unmasked(given: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """What is given, but where that is the mask of a stored value, the stored value."""
    return {name: _unmasked(name, value, stored.get(name)) for name, value in given.items()}


def masks_in(values: Mapping[str, Any]) -> list[str]:
    """Names whose value still has a mask in it: nothing is stored that this could stand for.

    So it is of a list, or an address, of which anything was changed: which of its passwords was meant nobody can say.
    """
    return [name for name, value in values.items() if _has_mask(value)]


def _has_mask(value: Any) -> bool:
    if isinstance(value, Mapping | list):
        return any(map(_has_mask, value.values() if isinstance(value, Mapping) else value))
    return isinstance(value, str) and (value == MASK or f":{MASK}@" in value)


def _masked(name: str, value: Any) -> Any:
    if SECRET_NAME.search(name) and value not in (None, ""):
        return MASK
    if isinstance(value, str):
        return masking.masked(name, value)
    if isinstance(value, Mapping):
        return masked(value)
    return [_masked(name, one) for one in value] if isinstance(value, list) else value


def _unmasked(name: str, given: Any, stored: Any) -> Any:
    if given == _masked(name, stored):
        return stored
    if isinstance(given, Mapping) and isinstance(stored, Mapping):
        return unmasked(given, stored)
    return given
