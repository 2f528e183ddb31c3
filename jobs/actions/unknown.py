"""Fields that nobody knows: refused, with the one that was probably meant."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.actions.reading import Reader, shown
from jobs.core.near import did_you_mean


def refuse_unknown(reader: Reader, known: Sequence[str]) -> None:
    for field in reader.raw:
        if field not in known:
            hint = did_you_mean(field, known, f"known are {', '.join(known)}.")
            reader.refuse(field, "a known field", f"There is no field {shown(field)}; {hint}")
