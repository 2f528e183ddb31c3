"""What an annotation may say of a parameter beside its type."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """In an annotation: `limit: Annotated[int, Bounds(ge=1, le=100, description="Rows at most.")]`.

    gt, ge, lt, le, multiple_of: of a number. min_length, max_length: characters of a text, entries of a list or of a
    dict. pattern: that a text matches somewhere. title, description: for who fills in the form. The marks of the
    package annotated-types, such as Ge(1) and MaxLen(20), say the same by the same names and are taken as well.
    """

    gt: float | None = None
    ge: float | None = None
    lt: float | None = None
    le: float | None = None
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    title: str | None = None
    description: str | None = None


# By the kind of JSON value, the keyword that each becomes.
OF_NUMBERS = {
    "gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum", "multiple_of": "multipleOf"
}  # fmt: skip
KEYWORDS: dict[str, dict[str, str]] = {
    "integer": OF_NUMBERS,
    "number": OF_NUMBERS,
    "string": {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
}
ABOUT = ("title", "description")
NAMES = (*OF_NUMBERS, "min_length", "max_length", "pattern")
