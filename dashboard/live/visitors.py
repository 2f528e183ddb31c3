"""Who is behind a socket, and whether they still may be."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare


class Visitor(NamedTuple):
    session_key: str
    user_id: int


def still_welcome(visitors: Collection[Visitor]) -> set[Visitor]:
    """Those whose session lives, for a user who is active and has still the password that it was opened with.

    Two queries, however many.
    """
    users = get_user_model().objects.filter(is_active=True).in_bulk([visitor.user_id for visitor in visitors])
    keys = [visitor.session_key for visitor in visitors]
    alive = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    sessions = {session.session_key: session.get_decoded() for session in alive}
    return {
        visitor
        for visitor in visitors
        if (user := users.get(visitor.user_id)) and _opened_by(user, sessions.get(visitor.session_key, {}))
    }


def _opened_by(user: object, session: dict[str, object]) -> bool:
    said = str(session.get(HASH_SESSION_KEY, ""))
    return session.get(SESSION_KEY) == str(user.pk) and constant_time_compare(said, user.get_session_auth_hash())  # type: ignore[attr-defined]  # any user model has both
