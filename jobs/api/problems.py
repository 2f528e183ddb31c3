"""Refusals as application/problem+json (RFC 9457): a title, a sentence to act on, and the fields at fault."""

# ruff: noqa: ARG001, ARG005 - every handler is given both

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import ObjectDoesNotExist, RequestDataTooBig, SuspiciousOperation
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from jobs.actions import ActionError, InvalidInput, NotFound, Problem, Refused
from jobs.actions.reading import shown
from jobs.execution.rundir import BrokenFileError

logger = logging.getLogger(__name__)

SAFE = ("GET", "HEAD")
MEDIA_TYPE = "application/problem+json"
SIGN_IN = "Send a token (`Authorization: Bearer TOKEN`; `manage.py createtoken USER` makes one), or sign in first."

View = Callable[..., HttpResponse]


class RequestError(Exception):
    """A request that cannot be taken as it is; `status` is the HTTP status that says so."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


def problem(
    status: int, detail: str, errors: Sequence[Problem] = (), headers: dict[str, str] | None = None
) -> HttpResponse:
    """`errors` in the answer are objects of field, given, expected and detail."""
    content: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    content["errors"] = [
        {"field": one.field, "given": one.given, "expected": one.expected, "detail": one.sentence} for one in errors
    ]
    return HttpResponse(json.dumps(content), status=status, content_type=MEDIA_TYPE, headers=headers)


def install(api: NinjaAPI) -> None:
    """Let this API answer each kind of error with a problem."""
    for kind, answer in HANDLERS.items():
        api.add_exception_handler(kind, answer)


def invalid_input(request: HttpRequest, error: InvalidInput) -> HttpResponse:
    return problem(422, error.sentence, error.problems)


def invalid_parameter(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """A query parameter that Ninja refused, with what was given, which it does not say."""
    found = []
    for fault in error.errors:
        name = str(fault["loc"][-1])
        given = shown(request.GET.get(name))
        sentence = f"{name} is {given}: {fault['msg'].lower()}."
        found.append(Problem(name, given, fault["msg"].removeprefix("Input should be "), sentence))
    return problem(422, " ".join(one.sentence for one in found), found)


def unauthorized(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    given = request.headers.get("Authorization")
    detail = f"The token is unknown, has expired, or its user is not active. {SIGN_IN}" if given else SIGN_IN
    return problem(401, detail, headers={"WWW-Authenticate": 'Bearer realm="Rota"'})


def busy(request: HttpRequest, error: OperationalError) -> HttpResponse:
    logger.error("%s %s: the database could not do it: %s", request.method, request.path, error)
    return problem(503, "The database cannot take this now: another program holds it, or the disk is full. Try again.")


def unexpected(request: HttpRequest, error: Exception) -> HttpResponse:
    """The border: what nobody thought of is logged with its traceback, and the caller is told that much."""
    logger.error("%s %s failed", request.method, request.path, exc_info=error)
    asked = "" if request.method in SAFE else " What you asked for may have been done: look before you send it again."
    return problem(500, f"The server failed at this; its log says how.{asked}")


def removed_meanwhile(request: HttpRequest, error: ObjectDoesNotExist) -> HttpResponse:
    return problem(404, "What this is about was deleted while it was read.")


HANDLERS: dict[type[Exception], Callable[[HttpRequest, Any], HttpResponse]] = {
    InvalidInput: invalid_input,
    ValidationError: invalid_parameter,
    AuthenticationError: unauthorized,
    NotFound: lambda _, error: problem(404, error.sentence),
    Refused: lambda _, error: problem(409, error.sentence),
    BrokenFileError: lambda _, error: problem(500, f"{error}; the attempt's files were damaged."),
    ActionError: lambda _, error: problem(400, error.sentence),
    RequestError: lambda _, error: problem(error.status, error.sentence),
    HttpError: lambda _, error: problem(error.status_code, error.message),
    RequestDataTooBig: lambda _, error: problem(413, "The request is too large; see the limits in docs/api.md."),
    SuspiciousOperation: lambda _, error: problem(400, str(error)),
    UnreadablePostError: lambda _, error: problem(400, "The request ended before its body did; send it again."),
    OperationalError: busy,
    ObjectDoesNotExist: removed_meanwhile,
    Exception: unexpected,
}


def answered_in_problems(view: View) -> View:
    """For what is answered before or beside an operation: another method, an address that is none."""

    @functools.wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        method = request.method
        if method == "HEAD":  # the server leaves the body out
            request.method = "GET"
        try:
            response = view(request, *args, **kwargs)
        except Http404:
            return unknown_address(request)
        finally:
            request.method = method
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
            return response
        allowed = ", ".join(sorted(response.headers["Allow"].split(", ")))
        detail = f"{request.path} does not take {request.method}; it takes {allowed}."
        return problem(405, detail, headers={"Allow": allowed})

    return answered


def unknown_address(request: HttpRequest, **_: Any) -> HttpResponse:
    hint = "addresses do not end with /" if request.path.endswith("/") else "docs/api.md lists the addresses"
    return problem(404, f"There is nothing at {shown(request.path)}; {hint}.")


unknown_address.csrf_exempt = True  # type: ignore[attr-defined]  # it changes nothing, and must say 404 to all
