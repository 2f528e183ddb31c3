"""What the actions refuse of a form that has been checked."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from jobs.actions import ActionError


class RefusalsTold:
    """What is refused after the form was checked was somebody else's doing in the same moment, and is said: a mixin
    of a ModelAdmin.
    """

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response: HttpResponse = super().changeform_view(request, *args, **kwargs)  # type: ignore[misc]  # of the ModelAdmin
        except ActionError as refusal:
            messages.error(request, refusal.sentence)
            return HttpResponseRedirect(request.get_full_path())
        return response
