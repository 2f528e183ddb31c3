"""What an attempt used over its time: points for the curves, and the same in words and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.live.places import path_of
from dashboard.presentation import amounts
from jobs.execution.samples import Sample, merged, read_samples
from jobs.models import Attempt
from jobs.telemetry.memory import MEGABYTE

TABLE_ROWS = 12
LEAST_SECONDS = 1.0  # in less, the start of Python alone makes a share that says nothing of the job
TOO_SHORT = "too short to measure"
NEVER_STARTED = "It never started."
SHARED = "It shares its process with others, so it is not measured alone."


@dataclass(frozen=True, slots=True)
class Curves:
    """`held`: cores that it holds, `reserved_bytes`: memory. `ended`: no point comes any more.

    `unmeasured`: why none ever comes, empty if one may.
    """

    attempt: int
    ended: bool
    held: int
    reserved_bytes: int
    samples: tuple[Sample, ...]
    average_cores: float | None
    peak_bytes: int | None
    unmeasured: str = ""

    @property
    def peak_cores(self) -> float | None:
        return max((sample.cores for sample in self.samples), default=None)

    @property
    def summary(self) -> str:
        """One sentence that says what the curves show."""
        cores = []
        if self.average_cores is not None:
            cores.append(f"{self.average_cores:.2f} cores on average")
            if self.peak_cores is not None:
                cores.append(f"{self.peak_cores:.2f} at most")
        memory = [f"{amounts.size(self.peak_bytes)} of memory at most"] if self.peak_bytes else []
        said = "; ".join(part for part in (", ".join(cores), *memory) if part)
        if said:
            return f"Used {said}." if cores or not self.ended else f"Its cores: {TOO_SHORT}. Used {said}."
        if self.unmeasured:
            return self.unmeasured
        return "It was over before it could be measured." if self.ended else "The first sample comes in a moment."

    @property
    def table(self) -> list[tuple[str, str, str]]:
        """(until when, cores, memory), a dozen rows at most."""
        return [
            (amounts.duration(one.seconds), f"{one.cores:.2f}", amounts.size(one.memory_bytes)) for one in self._few()
        ]

    def _few(self) -> list[Sample]:
        step = -(-len(self.samples) // TABLE_ROWS) or 1
        before = [0.0, *(self.samples[at - 1].seconds for at in range(step, len(self.samples), step))]
        parts = [list(self.samples[at : at + step]) for at in range(0, len(self.samples), step)]
        return [merged(part, since) for part, since in zip(parts, before, strict=False)]

    def content(self) -> dict[str, Any]:
        """For the page's script; `seconds`, `cores` and `memory` are of equal length."""
        return {
            "attempt": self.attempt,
            "ended": self.ended,
            "held": self.held,
            "reserved": self.reserved_bytes,
            "seconds": [round(one.seconds, 2) for one in self.samples],
            "cores": [round(one.cores, 3) for one in self.samples],
            "memory": [one.memory_bytes for one in self.samples],
            "summary": self.summary,
            "table": self.table,
        }


def curves_of(attempt: Attempt) -> Curves:
    """Reads a file."""
    samples = read_samples(path_of(attempt.instance_id, attempt.number, attempt.token))
    return Curves(
        attempt=attempt.number,
        ended=attempt.ended_at is not None,
        held=len(attempt.cores) + attempt.virtual_cores,
        reserved_bytes=attempt.memory_mb * MEGABYTE,
        samples=tuple(samples),
        average_cores=average_cores(attempt, samples),
        peak_bytes=attempt.peak_memory_bytes or max((one.memory_bytes for one in samples), default=None),
        unmeasured=_unmeasured(attempt),
    )


def _unmeasured(attempt: Attempt) -> str:
    if attempt.ended_at is not None and attempt.started_at is None:
        return NEVER_STARTED
    return SHARED if attempt.instance.job.execution_model in ("thread", "async") else ""


def average_cores(attempt: Attempt, samples: Sequence[Sample]) -> float | None:
    """By the kernel's count of the whole run once it is over, by the samples until then; None of a run too short."""
    if attempt.duration_seconds is not None and attempt.duration_seconds < LEAST_SECONDS:
        return None
    if attempt.cpu_seconds is not None and attempt.duration_seconds:
        return attempt.cpu_seconds / attempt.duration_seconds
    return merged(list(samples), 0.0).cores if samples and samples[-1].seconds >= LEAST_SECONDS else None
