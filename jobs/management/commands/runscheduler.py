"""The one process of Rota: the engine with its executor, and the web beside it."""

from __future__ import annotations

import logging
import platform
import signal
import socket
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandParser
from django.db import DatabaseError, OperationalError, connection

from jobs.execution.undumpable import hide_process
from jobs.models import Node
from jobs.service import logs
from jobs.service.capacity import measure
from jobs.service.registration import NodeNameTakenError
from jobs.service.service import Service
from scheduler_site import preflight
from scheduler_site.environment import Refusal

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Run the scheduler on this machine, with the dashboard and the API."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--bind", default="127.0.0.1", help="address to listen on (127.0.0.1)")
        parser.add_argument("--port", type=_port, default=settings.PORT, help="port to listen on (ROTA_PORT)")
        parser.add_argument("--no-web", action="store_true", help="run the engine only, without pages and API")
        parser.add_argument("--node", default=platform.node() or "node", help="this machine's name (its host name)")
        parser.add_argument("--cores", type=_whole, help="cores to give out (those this process may use)")
        parser.add_argument("--overcommit", type=_factor, default=1.5, help="slots per core (1.5); 1.0 is a hard limit")
        parser.add_argument("--memory-mb", type=_whole, help="memory to give out, in MB (the machine's)")

    def handle(self, *_args: Any, **options: Any) -> None:
        host, port, web = options["bind"], options["port"], not options["no_web"]
        hide_process()
        preflight.check_data_folder(settings.DATA_DIR)
        with preflight.hold_service_lock(settings.DATA_DIR / "service.lock"):
            if web:
                preflight.check_port(host, port)
            preflight.check_migrated()
            logs.open_log(settings.DATA_DIR / "logs")
            capacity = measure(options["cores"], options["overcommit"], options["memory_mb"])
            try:
                service = Service(options["node"], capacity)
            except NodeNameTakenError as taken:
                raise Refusal(str(taken)) from None
            except OperationalError as error:  # it has gone since it was looked at
                raise preflight.database_refused(error) from None
            service.open()
            log.info("node %s gives out cores %s", options["node"], ", ".join(map(str, capacity.cores)))
            if web:
                self._serve(host, port, service)
            else:
                self._wait(service)
        log.info("stopped")
        self.stdout.write(left_running(service.node))

    def _serve(self, host: str, port: int, service: Service) -> None:
        from scheduler_site import web

        address = f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{port}/"  # noqa: S104 - compared only
        web.serve(host, port, on_ready=lambda: self._say(f"Rota answers on {address}"), on_stop=service.close)

    def _wait(self, service: Service) -> None:
        """Until a signal is written into the socket: one that comes just before a wait for a lock, or that the kernel
        gives to another thread, would not end that wait.
        """
        asked, by_signals = socket.socketpair()
        by_signals.setblocking(False)
        signal.set_wakeup_fd(by_signals.fileno())

        def stop(number: int, _frame: object) -> None:
            signal.signal(number, signal.SIG_DFL)  # a second signal is at once

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        self._say("Rota runs without its web pages.")
        with asked, by_signals:
            asked.recv(1)
            signal.set_wakeup_fd(-1)
        service.close()

    def _say(self, sentence: str) -> None:
        log.info(sentence)
        self.stdout.write(sentence)
        self.stdout.flush()


def left_running(node: Node) -> str:
    """What is said at the end, so that nobody wonders what became of the scripts."""
    connection.close()  # this thread's is as old as the service: the server may have cut it
    try:
        count = node.instances.filter(status="running").count()
    except DatabaseError:
        return "Rota has stopped; scripts that run go on, and the next start adopts them."
    if not count:
        return "Rota has stopped; nothing runs."
    runs, them = ("script runs", "it") if count == 1 else ("scripts run", "them")
    return f"Rota has stopped; {count} {runs} on, and the next start adopts {them}."


def _port(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 65535:
        raise ValueError
    return number


def _whole(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _factor(text: str) -> float:
    number = float(text)
    if not 1.0 <= number <= 100.0:
        raise ValueError
    return number
