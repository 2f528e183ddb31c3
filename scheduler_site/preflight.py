"""What must be true before the service starts; each check returns or raises a Refusal with one sentence."""

import errno
import fcntl
import os
import socket
import tempfile
from pathlib import Path
from typing import TextIO

import psycopg
from django.conf import settings
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from jobs.sqlite.filesystem import network_kind
from scheduler_site.environment import Refusal

CONNECT_TIMEOUT_SECONDS = 5


class PortRefused(Refusal):
    """The service cannot listen there."""


class DataFolderRefused(Refusal):
    """The data folder cannot be used."""


class ServiceRunning(Refusal):
    """Another process serves the same data folder."""


class DatabaseRefused(Refusal):
    """The database does not answer."""


def check_port(host: str, port: int) -> None:
    """Refuses an address that cannot be listened on now. `host` is a name or an address, IPv4 or IPv6."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            # As servers do: connections of a service that just ended must not count as taken.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise PortRefused(_why_not_listen(host, port, error)) from None


def _why_not_listen(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is taken by another program; stop it, or set ROTA_PORT to a free port."
    if error.errno == errno.EACCES:
        return f"port {port} may be used by root only; set ROTA_PORT to one above 1023."
    return f"cannot listen on {host} port {port} ({error.strerror}); give an address of this machine."


def check_data_folder(path: Path) -> None:
    """Refuses a folder that cannot be made or written, or that cannot hold the SQLite file it is meant for."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Root is refused nothing by permission bits, but by a read-only mount or a full disk: so write for real.
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(b"rota")
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        raise DataFolderRefused(
            f"the data folder {path} cannot be written ({error.strerror}); "
            "give it to the user who runs Rota, or set ROTA_DATA to another folder."
        ) from None
    database = settings.DATABASES["default"]
    if database["ENGINE"] == "jobs.sqlite":
        _check_local(Path(str(database["NAME"])).parent)


def _check_local(folder: Path) -> None:
    if kind := network_kind(folder):
        raise DataFolderRefused(
            f"{folder} is on a network file system ({kind}), where SQLite loses data; set ROTA_DATA to a folder on a "
            "local disk, or DATABASE_URL to a PostgreSQL database."
        )


def hold_service_lock(path: Path) -> TextIO:
    """Locks the file, which says that this process serves its folder; keep the returned file open to hold the lock.

    An fcntl lock: it ends with the process however that ends, and forked children do not inherit it. It also ends when
    this process closes *any* descriptor of the file, so nobody else may open it.
    """
    try:
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+")
    except OSError as error:
        raise DataFolderRefused(f"the lock file {path} cannot be opened ({error.strerror}).") from None
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        owner = file.read().strip() or "unknown"
        file.close()
        raise ServiceRunning(
            f"another service (process {owner}) already runs on {path.parent}; "
            "stop it, or set ROTA_DATA to another folder."
        ) from None
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


def check_database() -> None:
    """Refuses a database that cannot be connected to."""
    try:
        if connection.vendor == "postgresql":
            # Not by Django's pool, which tries again for a while and writes each failure to the log.
            psycopg.connect(**connection.get_connection_params(), connect_timeout=CONNECT_TIMEOUT_SECONDS).close()
        else:
            connection.ensure_connection()
    except (OperationalError, psycopg.OperationalError) as error:
        raise database_refused(error) from None


def database_refused(error: Exception) -> DatabaseRefused:
    where = connection.settings_dict["HOST"] or connection.settings_dict["NAME"]
    reason = str(error).strip().splitlines()[0].rstrip(".")
    return DatabaseRefused(f"the database at {where} cannot be opened ({reason}); start it, or correct DATABASE_URL.")


def has_pending_migrations() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def check_migrated() -> None:
    """Refuses a database whose tables are not those of this version."""
    check_database()
    if has_pending_migrations():
        where = connection.settings_dict["HOST"] or connection.settings_dict["NAME"]
        raise DatabaseRefused(
            f"the database at {where} has not the tables of this version; "
            "run `manage.py bootstrap` first, or name another by ROTA_DATA or DATABASE_URL."
        )
