"""The page on which the API can be read and tried: Swagger UI from Ninja's own files, without inline script."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase


class DocsPage(DocsBase):
    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        return render(request, "api/docs.html", {"schema_url": self.get_openapi_url(api, kwargs), "title": api.title})
