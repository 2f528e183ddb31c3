"""What runs, what waits and why, what comes next, what failed."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dashboard.live.sampler import first_load
from dashboard.views.pages import live_page


@require_safe
@login_required
def overview(request: HttpRequest) -> HttpResponse:
    return live_page(request, "overview.html", ["overview", "load"], {"first_load": first_load()})
