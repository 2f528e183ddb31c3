"""Fields that nobody knows: refused, with the one that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from jobs.actions.reading import Reader, shown


def refuse_unknown(reader: Reader, known: Sequence[str]) -> None:
    for field in reader.raw:
        if field not in known:
            near = difflib.get_close_matches(field, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}."
            reader.refuse(field, "a known field", f"There is no field {shown(field)}; {hint}")
