"""What was posted from the fields of parameters, as values. What fits is for `jobs.actions` to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard.presentation.parameters import MORE, PREFIX, text_in_field, widget_of
from jobs.actions.forms import lines_alike, read_number
from jobs.parameters.expected import types_of
from jobs.parameters.schema import properties_of
from jobs.parameters.written import NotJson, read_json


def posted_values(schema: Mapping[str, Any], posted: Mapping[str, str], filled: Mapping[str, Any]) -> dict[str, Any]:
    """By the names of parameters, those that were said. `filled`: what the form was filled with, by name.

    A field that shows what it was filled with keeps that very value: a browser ends lines in its own way, and a mask
    stands for what is stored. One that was emptied says the empty text, or nothing where that is no text. What cannot
    be read as its kind stays text, to be refused as it was typed.
    """
    found: dict[str, Any] = {}
    for name, one in properties_of(schema).items():
        text = posted.get(PREFIX + name)
        if text is None:
            continue
        if name in filled and lines_alike(text) == lines_alike(text_in_field(one, filled[name])):
            found[name] = filled[name]
        elif text or (name in filled and _may_be_empty(one)):
            found[name] = _value(one, lines_alike(text))
    more = posted.get(MORE, "").strip()
    return {**(_object(more) if more else {}), **found}


def undeclared(schema: Mapping[str, Any], posted: Mapping[str, str]) -> dict[str, str]:
    """What was typed for parameters that an edit of the job took away meanwhile: to be refused, not to be dropped."""
    names = {field.removeprefix(PREFIX): text for field, text in posted.items() if field.startswith(PREFIX) and text}
    return {name: text for name, text in names.items() if name not in properties_of(schema)}


def _may_be_empty(schema: Mapping[str, Any]) -> bool:
    return "string" in types_of(schema) and "format" not in schema and widget_of(schema) in ("input", "area")


def _value(schema: Mapping[str, Any], text: str) -> Any:
    widget, kinds = widget_of(schema), types_of(schema)
    if widget in ("json", "select"):
        try:
            return read_json(text)
        except NotJson:
            return text
    if "string" in kinds:
        return None if not text and "null" in kinds else text
    return read_number(text.strip())


def _object(text: str) -> dict[str, Any]:
    try:
        found = read_json(text)
    except NotJson:
        found = text
    return found if isinstance(found, dict) else {text: None}  # refused by that name
