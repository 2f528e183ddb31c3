"""API tokens in admin: seen and revoked. They are made by `manage.py createtoken`, which alone can show them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from jobs.models import ApiToken


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # no generic at run time
    list_display = ("user", "label", "created_at", "expires_at", "last_used_at")
    list_filter = ("user",)
    list_select_related = ("user",)
    search_fields = ("label", "user__username")
    fields = ("user", "label", "created_at", "expires_at", "last_used_at")

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - Django's signature
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - Django's signature
        return False
