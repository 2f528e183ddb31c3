"""Who calls: a program with a token, or a browser with a session."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest
from django.utils import timezone
from ninja.errors import HttpError
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from jobs.api import tokens

CSRF_REFUSED = (
    "The request came with a session but without its CSRF token; send the cookie's value as the header X-CSRFToken, "
    "or use a token of `manage.py createtoken`."
)


class BearerToken(HttpBearer):
    def authenticate(self, request: HttpRequest, token: str) -> Any:  # noqa: ARG002 - Ninja's signature
        """The user whose token it is, or None."""
        return tokens.user_of(token, timezone.now())


class SignedInUser(APIKeyCookie):
    param_name = settings.SESSION_COOKIE_NAME

    def __call__(self, request: HttpRequest) -> Any:
        """The user of the session, or None; not asked when a token was sent, and refused, too."""
        return None if "Authorization" in request.headers else self.authenticate(request, None)

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:  # noqa: ARG002 - Ninja's signature
        user = request.user
        if not user.is_authenticated or not user.is_active:
            return None
        # Not before: a caller without any session is to be told to sign in.
        if check_csrf(request):
            raise HttpError(403, CSRF_REFUSED)
        return user


def actor_of(request: HttpRequest) -> str:
    """The name under which the caller's actions are recorded."""
    caller: AbstractBaseUser = request.auth  # type: ignore[attr-defined]  # Ninja puts it there
    return caller.get_username()


def caller_of(request: HttpRequest) -> str:
    """Which token asks, or which user by a session: what one of them sends is never answered to another."""
    caller: AbstractBaseUser = request.auth  # type: ignore[attr-defined]  # Ninja puts it there
    _, _, token = request.headers.get("Authorization", "").partition(" ")
    return tokens.digest_of(token) if token else f"user {caller.pk}"
