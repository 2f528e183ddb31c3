"""Secrets: listed with the jobs that are given them, made, replaced and deleted. No page ever has a value in it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from http import HTTPStatus

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from dashboard.forms import Field
from dashboard.once import once
from dashboard.views.acting import acted, actor_of, told
from dashboard.views.pages import live_page
from jobs import actions
from jobs.actions import InvalidInput, Problem
from jobs.actions.secrets import SECRET_FIELDS, value_from_form
from jobs.models import Secret
from jobs.store.secrets import with_jobs

PART_OF = "jobs"
ONCE_MORE = "What you typed is not shown again: give the value once more."


@require_safe
@login_required
def secrets(request: HttpRequest) -> HttpResponse:
    return live_page(request, "secrets/list.html", [], {"secrets": with_jobs(), "part_of": PART_OF})


@sensitive_post_parameters("value")
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def new_secret(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _page(request, None)
    return once(request, lambda: _create(request))


@sensitive_post_parameters("value")
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def edit_secret(request: HttpRequest, secret_id: int) -> HttpResponse:
    secret = _find_or_404(secret_id)
    if request.method != "POST":
        return _page(request, secret)
    return once(request, lambda: acted(request, lambda: _change(request, secret)))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def delete_secret(request: HttpRequest, secret_id: int) -> HttpResponse:
    """Asks first."""
    if request.method != "POST":
        return live_page(request, "secrets/delete.html", [], {"secret": _find_or_404(secret_id), "part_of": PART_OF})
    do = partial(actions.delete_secret, secret_id, actor=actor_of(request), now=timezone.now())
    return acted(request, lambda: told(request, do, lambda done: f"Secret {done.name} is deleted.", "secrets"))


@sensitive_variables()
def _create(request: HttpRequest) -> HttpResponse:
    raw = {name: request.POST.get(name, "") for name in ("name", "description")}
    value = value_from_form(request.POST.get("value", ""))
    try:
        done = actions.create_secret(raw | {"value": value}, actor=actor_of(request), now=timezone.now())
    except InvalidInput as refusal:
        return _page(request, None, refusal.problems)
    messages.success(request, f"Created secret {done.name}. Give it to jobs in their forms, under Secrets.")
    return redirect("secrets")


@sensitive_variables()
def _change(request: HttpRequest, secret: Secret) -> HttpResponse:
    """No value typed leaves the one that there is."""
    value = value_from_form(request.POST.get("value", ""))
    patch = {"description": request.POST.get("description", ""), **({"value": value} if value else {})}
    try:
        done = actions.change_secret(secret.pk, patch, actor=actor_of(request), now=timezone.now())
    except InvalidInput as refusal:
        return _page(request, secret, refusal.problems)
    said = "Attempts that start from now on get the new value." if "value" in done.changed else "Saved."
    messages.success(request, said if done.changed else "Nothing was changed.")
    return redirect("secrets")


def _find_or_404(secret_id: int) -> Secret:
    secret = with_jobs().filter(pk=secret_id).first()
    if secret is None:
        raise Http404(f"There is no secret {secret_id}; it may have been deleted.")
    return secret


def _page(request: HttpRequest, secret: Secret | None, problems: Iterable[Problem] = ()) -> HttpResponse:
    """After a refusal with what was typed, but for the value."""
    said: dict[str, list[str]] = {name: [] for name in SECRET_FIELDS}
    for problem in problems:
        said[problem.field].append(problem.sentence[:1].upper() + problem.sentence[1:])
    if any(said.values()) and not said["value"] and request.POST.get("value"):
        said["value"].append(ONCE_MORE)
    stored = {"name": secret.name, "description": secret.description} if secret else {}
    typed = {name: request.POST.get(name, stored.get(name, "")) for name in ("name", "description")}
    fields = {name: Field(name, typed.get(name, ""), tuple(said[name])) for name in SECRET_FIELDS}
    status = HTTPStatus.UNPROCESSABLE_ENTITY if any(said.values()) else HTTPStatus.OK
    context = {"secret": secret, "field": fields, "part_of": PART_OF}
    return live_page(request, "secrets/form.html", [], context, status=status)
