"""What people may do to limits: make, change and delete them. Engines follow at once; what runs goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from jobs.actions.answers import InvalidInput, NotFound, Problem, Refused
from jobs.actions.limiting import LONGEST_NAME
from jobs.actions.reading import Reader, shown
from jobs.actions.unknown import refuse_unknown
from jobs.core.buckets import GREATEST_BURST, GREATEST_RATE, LEAST_RATE
from jobs.core.running import ExecutionModel
from jobs.models import Job, Limit
from jobs.store.events import NewEvent, record

LIMIT_FIELDS = ("kind", "name", "maximum", "rate_per_second", "burst")
KINDS = tuple(kind.value for kind in Limit.Kind)
MODELS = tuple(model.value for model in ExecutionModel)
MOST_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class LimitSpec:
    """`maximum` at once for a tag or a model; `rate_per_second` and `burst` for a rate."""

    kind: str
    name: str
    maximum: int | None = None
    rate_per_second: float | None = None
    burst: int | None = None


@dataclass(frozen=True, slots=True)
class LimitChanged:
    """`changed` names what is different now. Empty: all was so already."""

    limit_id: int
    changed: tuple[str, ...]


def check_limit(raw: Mapping[str, Any]) -> LimitSpec:
    """`raw` maps LIMIT_FIELDS to values as JSON has them. Raises InvalidInput."""
    reader = Reader(raw)
    refuse_unknown(reader, LIMIT_FIELDS)
    kind = reader.choice("kind", "", KINDS)
    if not reader.has("kind"):
        reader.expected("kind", f"one of {', '.join(KINDS)}")
    spec = LimitSpec(kind, _name(reader, kind))
    if kind == Limit.Kind.RATE:
        spec = replace(spec, rate_per_second=_rate(reader), burst=_burst(reader))
        _refuse_given(reader, ("maximum",), "a rate has rate_per_second and burst")
    elif kind:
        spec = replace(spec, maximum=_maximum(reader))
        _refuse_given(reader, ("rate_per_second", "burst"), f"a limit of a {kind} has maximum")
    reader.check()
    return spec


def create_limit(raw: Mapping[str, Any], *, actor: str, now: datetime) -> LimitChanged:
    """Raises InvalidInput with nothing stored."""
    spec = check_limit(raw)
    try:
        with transaction.atomic():
            limit = Limit.objects.create(**_columns(spec))
            _record(limit, "created", actor, now)
    except IntegrityError:
        raise _taken(spec) from None
    return LimitChanged(limit.pk, LIMIT_FIELDS)


def change_limit(limit_id: int, patch: Mapping[str, Any], *, actor: str, now: datetime) -> LimitChanged:
    """Change the numbers in `patch`, leave the others. Tokens that are there stay there, but for what a smaller burst
    cannot hold. Raises InvalidInput, NotFound.
    """
    with transaction.atomic():
        limit = _locked(limit_id)
        wanted = _columns(check_limit(raw_of(limit) | dict(patch)))
        changed = tuple(name for name, value in wanted.items() if getattr(limit, name) != value)
        if fixed := set(changed) & {"kind", "name"}:
            field = min(fixed)
            sentence = f"The {field} of a limit stays as it is; make another limit, and delete this one."
            raise InvalidInput([Problem(field, shown(patch[field]), shown(getattr(limit, field)), sentence)])
        if changed:
            Limit.objects.filter(pk=limit_id).update(**{name: wanted[name] for name in changed})
            limit.refresh_from_db()
            _record(limit, "changed", actor, now)
    return LimitChanged(limit_id, changed)


def delete_limit(limit_id: int, *, actor: str, now: datetime) -> LimitChanged:
    """What waited for it may start. A rate that jobs name is kept: Refused says which. Raises NotFound, Refused."""
    with transaction.atomic():
        limit = _locked(limit_id)
        if limit.kind == Limit.Kind.RATE and (jobs := _that_take(limit.name)):
            named = ", ".join(jobs[:5]) + (f" and {len(jobs) - 5} others" if len(jobs) > 5 else "")
            raise Refused(f"Jobs take from the rate {limit.name}: {named}. Take it out of them, then delete it.")
        _record(limit, "deleted", actor, now)
        limit.delete()
    return LimitChanged(limit_id, LIMIT_FIELDS)


def raw_of(limit: Limit) -> dict[str, Any]:
    """The fields as one would have to give them to make it."""
    return {name: getattr(limit, name) for name in LIMIT_FIELDS}


def _name(reader: Reader, kind: str) -> str:
    problems = len(reader.problems)
    name = reader.text("name", longest=LONGEST_NAME)
    if (not name or "," in name) and len(reader.problems) == problems:
        reader.expected("name", f"1 to {LONGEST_NAME} characters without a comma")
    if kind == Limit.Kind.MODEL and name and name not in MODELS:
        reader.expected("name", f"an execution model of jobs here: {', '.join(MODELS)}")
    return name


def _maximum(reader: Reader) -> int | None:
    if not reader.has("maximum"):
        reader.expected("maximum", f"a whole number from 0 (nothing starts) to {MOST_AT_ONCE:,}")
    return reader.whole("maximum", None, lowest=0, highest=MOST_AT_ONCE)


def _rate(reader: Reader) -> float | None:
    value = reader.raw.get("rate_per_second")
    if isinstance(value, int | float) and not isinstance(value, bool) and LEAST_RATE <= value <= GREATEST_RATE:
        return float(value)
    expected = f"a number of starts per second, from {LEAST_RATE:.1g} (one in a year) to {GREATEST_RATE:,}"
    reader.expected("rate_per_second", expected)
    return None


def _burst(reader: Reader) -> int:
    return reader.whole("burst", 1, lowest=1, highest=GREATEST_BURST)


def _refuse_given(reader: Reader, fields: tuple[str, ...], because: str) -> None:
    for field in fields:
        if reader.has(field):
            reader.refuse(field, "nothing", f"{field} does not go with this kind: {because}; leave it out.")


def _columns(spec: LimitSpec) -> dict[str, Any]:
    return {name: getattr(spec, name) for name in LIMIT_FIELDS}


def _locked(limit_id: int) -> Limit:
    limit = Limit.objects.select_for_update().filter(pk=limit_id).first()
    if limit is None:
        raise NotFound("limit", limit_id)
    return limit


def _that_take(rate: str) -> list[str]:
    """Names of the jobs. Looked through here, because SQLite cannot ask a JSON list for a member."""
    rows = Job.objects.exclude(rates=[]).order_by("name").values_list("name", "rates")
    return [name for name, rates in rows if rate in rates]


def _record(limit: Limit, what: str, actor: str, now: datetime) -> None:
    data = {"limit": limit.pk, "what": what, **raw_of(limit)}
    record([NewEvent(now, "limit.changed", actor=actor, data=data)])


def _taken(spec: LimitSpec) -> InvalidInput:
    sentence = f"There is a limit of the {spec.kind} {shown(spec.name)} already; change that one."
    return InvalidInput([Problem("name", shown(spec.name), "a name that no other limit of this kind has", sentence)])
