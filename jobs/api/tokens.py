"""Making and checking API tokens. A token has 256 random bits, so a plain digest protects it as well as a slow one."""

from __future__ import annotations

import hashlib
import secrets
from contextlib import suppress
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import OperationalError
from django.db.models import Q

from jobs.models import ApiToken

PREFIX = "rota_"
# A write for every read of the API would make readers wait for each other.
USE_NOTED_EVERY = timedelta(minutes=1)


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def make_token(user: User, *, label: str, now: datetime, expires_at: datetime | None = None) -> str:
    """A new token; it can not be read again later."""
    token = PREFIX + secrets.token_urlsafe(32)
    ApiToken.objects.create(user=user, label=label, digest=digest_of(token), created_at=now, expires_at=expires_at)
    return token


def user_of(token: str, now: datetime) -> User | None:
    """The active user whose unexpired token it is; notes its use."""
    alive = Q(expires_at__isnull=True) | Q(expires_at__gt=now)
    found = ApiToken.objects.select_related("user").filter(alive, digest=digest_of(token), user__is_active=True).first()
    if found is None:
        return None
    if found.last_used_at is None or found.last_used_at <= now - USE_NOTED_EVERY:
        with suppress(OperationalError):  # when the database cannot write now, reading must go on
            ApiToken.objects.filter(pk=found.pk).update(last_used_at=now)
    return found.user
