"""What the engine's thread does about environments: it asks for them, and passes on attempts with what they get."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from jobs import models
from jobs.core.decisions import Prepare, Unprepare
from jobs.core.inputs import Ended, Prepared
from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind
from jobs.execution.environments import Environments, Given
from jobs.execution.launch import AttemptRef, Launch
from jobs.service.clock import utc_now
from jobs.service.mailbox import Mailbox
from jobs.store.environments import declared_by


class Preparing:
    def __init__(self, environments: Environments, mailbox: Mailbox, go: Callable[[Launch], None]) -> None:
        """go: starts an attempt that has what it needs."""
        self._environments = environments
        self._mailbox = mailbox
        self._go = go
        self._gate = threading.Lock()  # what is passed on is no longer ours to cancel, and the other way round
        # By token, what is launched when its script has been read, and what was found when it was read before.
        self._looking: dict[str, tuple[Launch, Given | None]] = {}

    def see_to(self, wanted: Iterable[Prepare | Unprepare]) -> None:
        """One query for all that are to be prepared."""
        listed = list(wanted)
        ids = {one.job_id for one in listed if isinstance(one, Prepare)}
        jobs = {job.pk: job for job in models.Job.objects.filter(pk__in=ids)} if ids else {}
        for one in listed:
            if isinstance(one, Unprepare):
                self._environments.unprepare(one.key)
                continue
            job = jobs.get(one.job_id)
            declared = declared_by(job) if job else None
            # Where it is another by now, the engine will be told of the edit, and ask for that.
            if declared is not None and declared.name == one.key:
                told = partial(self._mailbox.put, Prepared(one.key))
                self._environments.prepare(one.key, declared.read, told, reads_file=bool(declared.path))

    def launch(self, launch: Launch) -> None:
        """Start it in its environment. What a file says is read at the start, though it has been read before."""
        declared = launch.declared
        if declared is None:
            self._go(launch)
            return
        given = self._environments.take(declared.name, launch.token)
        if given is not None and not declared.path:
            self._go(in_environment(launch, given))
        else:
            with self._gate:
                self._looking[launch.token] = launch, given
            name = _name(launch.token)
            told = partial(self._looked, launch.token)
            self._environments.prepare(name, declared.read, told, given, reads_file=bool(declared.path))

    def cancel(self, ref: AttemptRef) -> bool:
        """Whether it had not been launched yet, and is not launched any more."""
        with self._gate:
            if self._looking.pop(ref.token, None) is None:
                return False
        self._environments.unprepare(_name(ref.token))
        outcome = Outcome(OutcomeKind.CANCELLED, utc_now(), error="was cancelled before it was started")
        self._mailbox.put(Ended(ref.instance_id, ref.token, outcome))
        return True

    def ended(self, token: str) -> None:
        self._environments.give_back(token)

    def begin_anew(self) -> None:
        """The engine that asked before has been replaced by another one. What is launched is launched all the same."""
        with self._gate:
            self._environments.unprepare_all(but=[_name(token) for token in self._looking])

    def _looked(self, token: str) -> None:
        """Called by a thread of the environments."""
        given = self._environments.take(_name(token), token)
        with self._gate:
            looking = self._looking.pop(token, None)
            if looking is not None and given is not None:
                launch, before = looking
                if before is not None and before.directory and before.key == given.key and not given.log:
                    given = replace(given, log=before.log)  # it was built when the script was read before
                self._go(in_environment(launch, given))
        self._environments.unprepare(_name(token))


def in_environment(launch: Launch, given: Given) -> Launch:
    interpreter = f"{given.directory}/bin/python" if given.directory else ""
    return replace(
        launch,
        interpreter=interpreter,
        environment=given.directory,
        environment_error=given.error,
        preface=given.log,
    )


def _name(token: str) -> str:
    """Of what one attempt alone asks for."""
    return f"attempt:{token}"
