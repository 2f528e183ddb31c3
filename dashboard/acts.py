"""What may be done to many jobs or instances at once. Each is the single action of `jobs.actions`, done to each.

A list's buttons, the page that asks, the operation in the background and what is said of it all read this table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from jobs import actions
from jobs.core.states import LIVE, TERMINAL, Status

JOB, INSTANCE = "job", "instance"


@dataclass(frozen=True, slots=True)
class Wish:
    """`tag` is what an act that asks for one was given; `among` tells the ids of all that the same is done to."""

    tag: str = ""
    among: Callable[[], Collection[int]] = tuple


@dataclass(frozen=True, slots=True)
class Act:
    """`one(id, actor, now, wish)` returns whether anything changed, and raises ActionError where it may not be done.

    `does` says what becomes of each, `did` what was done to those that changed, `nothing` why others did not.
    `statuses`: of an instance, those in which there is something to do. `is_whole`: one transaction with its note.
    """

    subject: str
    key: str
    word: str
    icon: str
    does: str
    did: str
    nothing: str
    one: Callable[[int, str, datetime, Wish], bool]
    statuses: frozenset[Status] = frozenset()
    kind: str = "primary"
    asks_tag: bool = False
    is_whole: bool = True

    @property
    def button(self) -> str:
        return f"{self.word.removesuffix(' to').removesuffix(' from').removesuffix(' of')}\N{HORIZONTAL ELLIPSIS}"


def act_of(subject: str, key: str) -> Act | None:
    return ACTS.get((subject, key))


def acts_on(subject: str) -> list[Act]:
    """In the order of a list's buttons."""
    return [act for act in ACTS.values() if act.subject == subject]


def _run(job_id: int, actor: str, now: datetime, _: Wish) -> bool:
    return actions.run_job(job_id, actor=actor, now=now).is_new


def _cancel_waiting(job_id: int, actor: str, now: datetime, _: Wish) -> bool:
    return actions.cancel_waiting(job_id, actor=actor, now=now).cancelled > 0


def _changed(action: Callable[..., actions.Changed], job_id: int, actor: str, now: datetime, _: Wish) -> bool:
    return bool(action(job_id, actor=actor, now=now).changed)


def _tagged(action: Callable[..., actions.Changed], job_id: int, actor: str, now: datetime, wish: Wish) -> bool:
    return bool(action(job_id, wish.tag, actor=actor, now=now).changed)


def _delete_job(job_id: int, actor: str, now: datetime, wish: Wish) -> bool:
    """With what waits and runs cancelled first, as the button on the job's page does; a whole workflow if all of what
    waits for it is among the chosen.
    """
    actions.delete_job(job_id, actor=actor, now=now, cancel_live=True, among=wish.among)
    return True


def _cancel(instance_id: int, actor: str, now: datetime, _: Wish) -> bool:
    return actions.cancel_instance(instance_id, actor=actor, now=now).answer != "ended"


def _retry(instance_id: int, actor: str, now: datetime, _: Wish) -> bool:
    return actions.retry_instance(instance_id, actor=actor, now=now).is_new


def _delete_instance(instance_id: int, actor: str, now: datetime, _: Wish) -> bool:
    actions.delete_instance(instance_id, actor=actor, now=now)
    return True


_ALL = (
    Act(
        subject=JOB, key="run", word="Run", icon="play", one=_run,
        does="Each gets one instance more, due now.", did="submitted", nothing="submitted already",
    ),
    Act(
        subject=JOB, key="pause", word="Pause", icon="pause", one=partial(_changed, actions.pause_job),
        does="Nothing of them starts until they are resumed; what runs goes on.",
        did="paused", nothing="paused already",
    ),
    Act(
        subject=JOB, key="resume", word="Resume", icon="play", one=partial(_changed, actions.resume_job),
        does="Their schedules count again from now on; what came due meanwhile is not made up for.",
        did="resumed", nothing="not paused",
    ),
    Act(
        subject=JOB, key="unqueue", word="Cancel waiting of", icon="stop", kind="danger", one=_cancel_waiting,
        is_whole=False,  # in portions, so that the engine is not kept waiting for a long queue
        does="All their instances that wait are cancelled; what runs goes on. This cannot be undone.",
        did="rid of what waited", nothing="without any that waits",
    ),
    Act(
        subject=JOB, key="add-tag", word="Add tag to", icon="plus", asks_tag=True,
        one=partial(_tagged, actions.add_tag),
        does="Each has it then, beside the tags that it has now.",
        did="tagged", nothing="tagged so already",
    ),
    Act(
        subject=JOB, key="remove-tag", word="Remove tag from", icon="cross", asks_tag=True,
        one=partial(_tagged, actions.remove_tag),
        does="Their other tags stay.", did="untagged", nothing="without it already",
    ),
    Act(
        subject=JOB, key="delete", word="Delete", icon="trash", kind="danger", one=_delete_job,
        is_whole=False,  # it goes in portions, so that the engine is not kept waiting for a long history
        does="Their instances and logs go with them. This cannot be undone.",
        did="deleted, or go by themselves when stopped", nothing="left for now",
    ),
    Act(
        subject=INSTANCE, key="cancel", word="Cancel", icon="stop", kind="danger", one=_cancel,
        statuses=LIVE,
        does="What waits will not run; what runs is ended with all its processes. This cannot be undone.",
        did="cancelled, or told to stop", nothing="ended already",
    ),
    Act(
        subject=INSTANCE, key="retry", word="Retry", icon="retry", one=_retry, statuses=TERMINAL,
        does="Each gets a new instance for its logical date, which waits for cores like any other.",
        did="retried", nothing="being retried already",
    ),
    Act(
        subject=INSTANCE, key="delete", word="Delete", icon="trash", kind="danger",
        one=_delete_instance, statuses=TERMINAL,
        does="Their attempts and logs go with them; what happened stays in the events. This cannot be undone.",
        did="deleted", nothing="not ended",
    ),
)  # fmt: skip

ACTS = {(act.subject, act.key): act for act in _ALL}
