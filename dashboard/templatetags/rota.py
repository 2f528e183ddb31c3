"""What the templates of Rota may say beyond Django's: rows of regions, moments, durations."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from django import template
from django.template import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard.presentation import amounts
from dashboard.presentation.navigation import Page, pages_seen_from
from dashboard.presentation.rows import Regions, html_of
from jobs.telemetry.memory import MEGABYTE

register = template.Library()
# As jobs.core.timewords.once says it, with the zone behind it.
_MOMENT = re.compile(
    r"\b[A-Z][a-z]{2} (?P<wall>\d\d [A-Z][a-z]{2} \d{4}, \d\d:\d\d:\d\d) (?:UTC|(?P<offset>[+-]\d{4}) \([\w/+-]+\))"
)


@register.simple_tag(takes_context=True)
def region(context: Context, name: str) -> SafeString:
    """All rows of a region of the page; nothing where the context has none, as in a row drawn alone."""
    regions: Regions = context.get("regions") or {}
    return format_html_join("", "{}", ((html_of(name, row, context["now"], regions),) for row in regions.get(name, ())))


@register.simple_tag(takes_context=True)
def pages(context: Context) -> list[Page]:
    """The pages that the header leads to, the current one marked; `part_of` in the context names another one."""
    return pages_seen_from(context["request"].path, context.get("part_of") or "")


@register.simple_tag(takes_context=True)
def moment(context: Context, at: datetime) -> SafeString:
    """Relative, such as "3 min ago", with the moment itself in a tooltip; kept current by clock.js."""
    return format_html(
        '<time datetime="{}" title="{}" data-clock="relative">{}</time>',
        _iso(at), exact(at), amounts.ago(at, context["now"]),
    )  # fmt: skip


@register.simple_tag(takes_context=True)
def elapsed(context: Context, since: datetime) -> SafeString:
    """How long it has been going on, such as "1 min 12 s"; it ticks."""
    seconds = (context["now"] - since).total_seconds()
    return format_html(
        '<time datetime="{}" title="since {}" data-clock="elapsed">{}</time>',
        _iso(since), exact(since), amounts.ticking(seconds),
    )  # fmt: skip


@register.simple_tag(takes_context=True)
def countdown(context: Context, until: datetime) -> SafeString:
    """How long until then, such as "in 12 s"; it ticks, and says "now" when it is over."""
    return format_html(
        '<time datetime="{}" title="{}" data-clock="countdown">{}</time>',
        _iso(until), exact(until), _in(until, context["now"]),
    )  # fmt: skip


@register.simple_tag(takes_context=True)
def left(context: Context, until: datetime) -> SafeString:
    """How long until an expected end, such as "12 s left", or how far beyond it, such as "5 s over"; it ticks."""
    seconds = (until - context["now"]).total_seconds()
    said = f"{amounts.ticking(seconds)} left" if seconds > 0 else f"{amounts.ticking(-seconds)} over"
    return format_html(
        '<time datetime="{}" title="expected {}" data-clock="left">{}</time>', _iso(until), exact(until), said
    )


@register.simple_tag(takes_context=True)
def spent(context: Context, since: datetime, expected_seconds: float) -> int:
    """Per cent of the expected duration that have gone by, 100 at most."""
    seconds = (context["now"] - since).total_seconds()
    return max(0, min(100, round(100 * seconds / expected_seconds))) if expected_seconds > 0 else 100


@register.filter
def exact(at: datetime) -> str:
    """Such as "2026-11-30 09:53:14 UTC"; a moment in a schedule's zone with its offset instead of "UTC"."""
    return f"{at:%Y-%m-%d %H:%M:%S} {_zone(at)}"


@register.filter
def wall(at: datetime) -> SafeString:
    """A fire as its zone's clocks show it, such as "Mon 30 Nov 2026, 02:30:00 +0100"; `at` is in that zone.

    zone.js says it in another zone for whoever wishes so.
    """
    said = f"{at:%a %d %b %Y, %H:%M:%S} {_zone(at)}"
    return format_html('<time datetime="{}" data-clock="wall">{}</time>', _iso(at), said)


@register.filter
def worded(words: str) -> SafeString:
    """Words of a schedule as a sentence begins; a moment in them is one that zone.js can say in another zone."""
    parts: list[SafeString] = []
    at = 0
    said = words[:1].upper() + words[1:]
    for found in _MOMENT.finditer(said):
        moment = datetime.strptime(found["wall"] + (found["offset"] or "+0000"), "%d %b %Y, %H:%M:%S%z")
        time = format_html('<time datetime="{}" data-clock="wall">{}</time>', _iso(moment), found[0])
        parts += [format_html("{}", said[at : found.start()]), time]
        at = found.end()
    return format_html_join("", "{}", ((part,) for part in (*parts, format_html("{}", said[at:]))))


@register.filter
def iso(at: datetime) -> str:
    return _iso(at)


@register.filter
def duration(seconds: float) -> str:
    return amounts.duration(seconds)


@register.filter
def apart(later: datetime, at: datetime) -> str:
    """How long after `at` it is, such as "2 min 26 s"."""
    return amounts.duration((later - at).total_seconds())


@register.filter
def size(count: int) -> str:
    return amounts.size(count)


@register.filter
def megabytes(count: int) -> str:
    return amounts.size(count * MEGABYTE)


@register.filter
def share(part: float, whole: float) -> int:
    """Per cent that `part` is of `whole`; 0 of nothing."""
    return round(100 * part / whole) if whole else 0


def _in(until: datetime, now: datetime) -> str:
    left = until - now
    return f"in {amounts.ticking(left.total_seconds())}" if left >= timedelta(seconds=1) else "now"


def _zone(at: datetime) -> str:
    return "UTC" if at.tzname() == "UTC" else f"{at:%z}"


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
