"""The parts of the running service, put together, opened in the order in which they need each other."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

from django.conf import settings

from jobs import models
from jobs.callables import discovery
from jobs.core.inputs import Abandoned, Began, Ended
from jobs.execution import abilities, launch
from jobs.execution.environments import Environments
from jobs.execution.local import LocalExecutor
from jobs.service import registered, registration
from jobs.service.capacity import Capacity
from jobs.service.checkpoint import Checkpointer
from jobs.service.deletions import Deletions
from jobs.service.equipment import EquipmentTeller
from jobs.service.loop import EngineLoop, utc_now
from jobs.service.mailbox import Mailbox
from jobs.service.notices import Notices
from jobs.service.retention import Retention
from jobs.service.wakers import waker
from jobs.store import vault, wake
from jobs.telemetry import recent
from jobs.telemetry.cores import CoreLoad

# With the default of 5 ms, four threads that render pages make the engine 15 ms late; with this, 2.5.
SWITCH_INTERVAL_SECONDS = 0.0005
STOP_SECONDS = 30.0


class Service:
    """One node's engine with its executor. `open` returns once the engine's thread runs; `close` lets scripts live."""

    def __init__(self, node_name: str, capacity: Capacity) -> None:
        self.mailbox = Mailbox()
        told = (*capacity.notices, *abilities.missing(), *discovery.failures(), *vault.notices())
        capacity = replace(capacity, notices=told)
        self.node: models.Node = registration.register(
            settings.DATA_DIR, node_name, capacity, product_version(), utc_now()
        )
        self.executor = LocalExecutor(
            settings.DATA_DIR, self._reported, python=sys.executable, node=node_name, warm_imports=settings.WARM_IMPORTS
        )
        registered.take_over(utc_now())
        self._environments = Environments(
            settings.DATA_DIR,
            timeout_seconds=settings.ENVIRONMENT_TIMEOUT_SECONDS,
            most_mb=settings.ENVIRONMENTS_MB,
            most_days=settings.ENVIRONMENTS_DAYS,
            tell=EquipmentTeller(self.node.pk).tell,
        )
        self._notices = Notices()
        self._checkpointer = Checkpointer()
        self._deletions = Deletions()
        self._retention = Retention(f"node:{node_name}")
        self._waker = waker(settings.DATA_DIR, self.mailbox.poke)
        self._engine = EngineLoop(
            self.node,
            capacity,
            self.executor,
            self.mailbox,
            self._notices,
            self._environments,
            load=recent.here.noting(CoreLoad().sample),
            on_beat=self._beaten,
            on_end=self._deletions.ask,
        )
        self._stop_listening = wake.listen(self._committed, hosts_engine=True)

    def open(self) -> None:
        sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
        self._waker.open()
        self._notices.open()
        self._checkpointer.open()
        self._deletions.open()
        self._retention.open()
        self.executor.open()
        self._environments.open()
        self._engine.start()

    def close(self) -> None:
        """Start nothing more, write what has ended, and let the scripts run on for the next start to adopt."""
        self._stop_listening()
        self._engine.stop()
        self._engine.join(STOP_SECONDS)
        self._environments.close()
        self.executor.close()
        self._retention.close()
        self._deletions.close()
        self._checkpointer.close()
        self._notices.close()
        self._waker.close()

    def _reported(self, report: launch.Report) -> None:
        """Called by the executor's thread."""
        ref = report.ref
        if isinstance(report, launch.Started):
            self.mailbox.put(Began(ref.instance_id, ref.token, report.at))
        elif isinstance(report, launch.Abandoned):
            self.mailbox.put(Abandoned(ref.instance_id, ref.token, report.outcome))
        else:
            self.mailbox.put(Ended(ref.instance_id, ref.token, report.outcome))

    def _beaten(self) -> None:
        self._checkpointer.ask()
        self._environments.tend()
        self._deletions.ask()

    def _committed(self) -> None:
        """A commit of another thread of this process: what the engine itself wrote, it knows."""
        if not self._engine.is_current_thread():
            self.mailbox.poke()


def product_version() -> str:
    try:
        return version("rota")
    except PackageNotFoundError:  # run from a checkout, which is not installed as a package
        return "0.1.0"
