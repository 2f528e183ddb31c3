"""One instance, and what may be done to it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from dashboard.filters import whole_number
from dashboard.live.places import latest_place
from dashboard.once import once
from dashboard.presentation.curves import curves_of
from dashboard.presentation.instance import find
from dashboard.presentation.logtext import first_text
from dashboard.presentation.parameters import parameters_of
from dashboard.presentation.rows import Gone
from dashboard.views.acting import acted, actor_of, came_from
from dashboard.views.logs import place_at
from dashboard.views.pages import live_page
from jobs import actions
from jobs.actions.keeping import log_gone
from jobs.models import Attempt, Instance
from jobs.store import read


@require_safe
@login_required
def instance(request: HttpRequest, instance_id: int) -> HttpResponse:
    """`?attempt=2` shows the log of that attempt instead of following the latest."""
    found = find_or_404(instance_id)
    place = place_at(instance_id, request)
    if place is None and "attempt" in request.GET:
        raise Http404(f"Instance {instance_id} has no such attempt.")
    number = place.attempt if place else 0
    follows = "attempt" not in request.GET or place == latest_place(instance_id)
    attempt = Attempt.objects.filter(instance_id=instance_id, number=number).first()
    context = {
        "instance": found,
        "follows": follows,
        "attempt": number,
        "first": first_text(place),
        "log_gone": log_gone(found, place.path) if place else "",
        "curves": curves_of(attempt) if attempt else None,
        "facts_region": "facts" if follows else f"facts:{number}",
        "given_region": "given" if follows else f"given:{number}",
        "ran_region": "ran" if follows else f"ran:{number}",
        "parameters": parameters_of(found, attempt),
        "in_workflow": found.job_id in read.workflows(),
        "retries": list(Instance.objects.filter(retry_of=found).order_by("id").values_list("id", flat=True)[:20]),
    }
    own = f"log:{instance_id}" if follows else f"attempt:{instance_id}.{number}"
    topics = [own, f"instance:{instance_id}"]
    return live_page(request, "instances/instance.html", topics, context)


@require_POST
@login_required
def cancel(request: HttpRequest, instance_id: int) -> HttpResponse:
    def act() -> HttpResponse:
        answer = actions.cancel_instance(instance_id, actor=actor_of(request), now=timezone.now())
        own = reverse("instance", args=[instance_id])
        back = came_from(request, own)
        if answer.answer != "stopping":
            messages.info(request, answer.sentence)
        elif back != own:  # its own page says it, for as long as it is so
            messages.info(request, f"Instance {instance_id} was told to stop.")
        return redirect(back)

    return acted(request, act)


@require_POST
@login_required
def retry(request: HttpRequest, instance_id: int) -> HttpResponse:
    def act() -> HttpResponse:
        submitted = actions.retry_instance(instance_id, actor=actor_of(request), now=timezone.now())
        return redirect("instance", submitted.instance_id)

    return once(request, lambda: acted(request, act))


@require_safe
@never_cache
@login_required
def samples(request: HttpRequest, instance_id: int) -> JsonResponse:
    """What the curves show, of `attempt`, or without it of the latest; `attempt` 0 before the first."""
    found = Attempt.objects.filter(instance_id=min(instance_id, 2**63 - 1)).order_by("-number")
    number = whole_number(request.GET.get("attempt", ""))
    attempt = (found if number is None else found.filter(number=min(number, 2**31 - 1))).first()
    return JsonResponse(curves_of(attempt).content() if attempt else {"attempt": 0})


def find_or_404(instance_id: int) -> Instance:
    try:
        return find(instance_id)
    except Gone as gone:
        raise Http404(gone.sentence) from gone
