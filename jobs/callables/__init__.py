"""Functions of a Django project that may be made jobs: `@job` in an app's `jobs.py`."""

from jobs.callables.registry import job

__all__ = ["job"]
