"""The lines of a script. By a loop of a template five thousand of them take seconds."""

from __future__ import annotations

from collections.abc import Sequence

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.simple_tag
def script_lines(lines: Sequence[str], numbered: bool) -> SafeString:
    """Each in an element of its own; numbered ones with an address, such as #L12."""
    codes = [f"<code>{code}</code>\n</span>" for code in map(escape, lines)]
    if not numbered:
        return mark_safe("".join(f'<span class="line">{code}' for code in codes))  # noqa: S308 - escaped above
    return mark_safe("".join(_START.format(n=n) + code for n, code in enumerate(codes, 1)))  # noqa: S308 - as above


_NUMBER = '<a class="line-number" href="#L{n}" tabindex="-1" aria-hidden="true" data-n="{n}"></a>'
_START = '<span class="line" id="L{n}">' + _NUMBER
