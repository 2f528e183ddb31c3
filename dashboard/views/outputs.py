"""The files that an attempt left, one by one."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.live.places import place_of
from jobs.downloads import download
from jobs.execution.outputs import open_output


@require_safe
@never_cache
@login_required
def output(request: HttpRequest, instance_id: int, attempt: int, name: str) -> StreamingHttpResponse:  # noqa: ARG001 - Django's
    place = place_of(min(instance_id, 2**63 - 1), min(attempt, 2**31 - 1))
    try:
        fd = open_output(place.path, name) if place else None
    except FileNotFoundError:
        fd = None
    if fd is None:
        raise Http404(f"Attempt {attempt} of instance {instance_id} has kept no file of this name.")
    return download(fd, name)
