"""What a callable may raise to tell something of its end."""

from __future__ import annotations

from jobs.embedded.errors import JobCancelled, NonRetryableError

__all__ = ["JobCancelled", "NonRetryableError"]
