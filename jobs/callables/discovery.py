"""Imports the `jobs.py` of each installed app; one that cannot be imported stops nothing but its own jobs."""

from __future__ import annotations

import logging
from importlib import import_module

from django.apps import apps
from django.utils.module_loading import module_has_submodule

from jobs.callables import registry
from jobs.callables.answers import text_of

MODULE = "jobs"
logger = logging.getLogger(__name__)

_failures: dict[str, str] = {}


def discover() -> None:
    """Called once all apps are ready. What failed before is tried again."""
    _failures.clear()
    for app in apps.get_app_configs():
        # This app is called jobs itself: its own module of that name would be jobs.jobs, and there is none.
        if app.module is not None and module_has_submodule(app.module, MODULE):
            _discover(app.name)


def failures() -> list[str]:
    """A sentence for each app whose jobs.py cannot be imported, by app."""
    return [_failures[app] for app in sorted(_failures)]


def _discover(app: str) -> None:
    module = f"{app}.{MODULE}"
    try:
        import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        registry.forget(module)
        _failures[app] = f"The jobs.py of the app {app} cannot be imported: {_said(error)}. Its jobs cannot run."
        logger.exception("The jobs.py of the app %s cannot be imported", app)


def _said(error: BaseException) -> str:
    text = f"{type(error).__name__}: {text_of(error)}".strip().rstrip(".:")
    return text if len(text) <= 300 else f"{text[:300]}…"
