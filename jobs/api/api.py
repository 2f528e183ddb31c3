"""The API as one object: its routes, who may call them, and how it refuses."""

from __future__ import annotations

from typing import Any

from django.urls import re_path
from ninja import NinjaAPI

from jobs.api import (
    attempts,
    backfills,
    calendars,
    callables,
    forecast,
    instances,
    jobs,
    limits,
    logs,
    nodes,
    problems,
    queue,
    schedules,
    secrets,
    system,
    workflows,
)
from jobs.api.auth import BearerToken, SignedInUser
from jobs.api.docs import DocsPage
from jobs.api.strict import strict_query

DESCRIPTION = """
Times are ISO 8601 with offset, durations are seconds, memory is in megabytes. A refusal is `application/problem+json`:
`detail` says in a sentence what to do, `errors` names each field with what was given and what is expected. Lists are
bare and newest first; where more follow, the header `Link` has the address of the next page.
"""


class RotaAPI(NinjaAPI):
    """Answers in problems also where Ninja answers in plain text or leaves it to Django."""

    @property
    def urls(self) -> Any:
        patterns, app, namespace = super().urls
        for pattern in patterns:
            assert pattern.callback is not None, "only a pattern that includes others has none"  # noqa: S101 - for mypy
            pattern.callback = problems.answered_in_problems(pattern.callback)
        return [*patterns, re_path("", problems.unknown_address)], app, namespace


api = RotaAPI(
    title="Rota",
    version="1",
    urls_namespace="api",
    description=DESCRIPTION,
    docs=DocsPage(),
    auth=[BearerToken(), SignedInUser()],
)
problems.install(api)
api.add_decorator(strict_query)
for router in (
    schedules.router,
    calendars.router,
    jobs.router,
    instances.router,
    queue.router,
    attempts.router,
    logs.router,
    workflows.router,
    backfills.router,
    nodes.router,
    forecast.router,
    limits.router,
    secrets.router,
    callables.router,
    system.router,
):
    api.add_router("", router)
