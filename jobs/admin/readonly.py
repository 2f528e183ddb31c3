"""A model that admin shows and never writes: its rows are the engine's, and move by rules that a form does not know."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html


def moment(field: str, words: str) -> Callable[[Any], str]:
    """A column of a list: the moment in UTC, of one width, so that rows can be compared at a glance."""

    @admin.display(description=f"{words} (UTC)", ordering=field)
    def shown(row: Any) -> str:
        return shown_moment(getattr(row, field))

    return shown


def shown_moment(at: datetime | None) -> str:
    return format_html('<span class="moment">{}</span>', f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}") if at else "-"


class ListStyle:
    """Mixed into a ModelAdmin whose list has moments."""

    class Media:
        css: ClassVar = {"all": ("admin/lists.css",)}


class ReadOnly:
    """Mixed into a ModelAdmin or an inline: may be seen by who may see it, and that is all."""

    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:  # noqa: ARG002 - Django's signature
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - Django's signature
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - Django's signature
        return False


class ReadOnlyAdmin(ReadOnly, ListStyle, admin.ModelAdmin):  # type: ignore[type-arg]  # no generic at run time
    # A second count of all rows, only to write "12 of 1,000,000 total".
    show_full_result_count = False
    list_per_page = 50
