"""REST: the actions and the reads that programs need, as JSON, with errors that say what to do."""

from jobs.api.api import api

__all__ = ["api"]
