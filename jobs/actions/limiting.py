"""What a job says about limits, deadlines and exit codes: read, and checked against what there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jobs.actions.reading import Reader, shown
from jobs.models import Limit

LIMITING_FIELDS = (
    "tenant", "deadline_seconds", "start_deadline_seconds", "max_running", "rates", "retry_only_exit_codes",
    "retry_never_exit_codes", "pause_after_failures",
)  # fmt: skip

MOST_RATES = 10
MOST_CODES = 50
LONGEST_NAME = 100  # of a tenant and of a limit
MOST_RUNNING = 32_767  # what the column holds
MOST_FAILURES = 1_000


def read_rates(reader: Reader, before: Iterable[str]) -> tuple[str, ...]:
    """Names of rates that exist; one that an edit leaves as it was may be gone meanwhile, and then limits nothing."""
    names = reader.texts("rates", most=MOST_RATES, longest=LONGEST_NAME)
    asked = set(names) - set(before)
    if not asked:
        return names
    known = sorted(Limit.objects.filter(kind=Limit.Kind.RATE).values_list("name", flat=True))
    for name in sorted(asked - set(known)):
        there = f"known are {', '.join(known[:20])}" if known else "there is none yet"
        sentence = f"There is no rate {shown(name)}; make it under Limits first ({there})."
        reader.refuse("rates", "names of rates that exist", sentence)
    return names


def read_exit_codes(reader: Reader) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The exit codes that alone are retried (none: any), and those that never are."""
    only, never = _codes(reader, "retry_only_exit_codes"), _codes(reader, "retry_never_exit_codes")
    if both := set(only) & set(never):
        sentence = (
            f"Exit code {min(both)} is in retry_only_exit_codes and in retry_never_exit_codes; take it out of one."
        )
        reader.refuse("retry_never_exit_codes", "codes that are not in retry_only_exit_codes", sentence)
    return only, never


def _codes(reader: Reader, field: str) -> tuple[int, ...]:
    value = reader.raw.get(field)
    if value is None:
        return ()
    expected = f"a list of at most {MOST_CODES} exit codes, whole numbers from 1 to 255"
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) > MOST_CODES:
        reader.expected(field, expected)
        return ()
    codes = [code for code in value if isinstance(code, int) and not isinstance(code, bool) and 1 <= code <= 255]
    if len(codes) != len(value):
        odd = next(code for code in value if code not in codes or isinstance(code, bool))
        sentence = f"{field}: {shown(odd)} is no exit code; expected whole numbers from 1 to 255."
        reader.refuse(field, expected, sentence)
    return tuple(sorted(set(codes)))
