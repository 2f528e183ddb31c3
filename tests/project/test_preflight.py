"""What the service refuses to start with: a sentence each."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from scheduler_site import preflight
from scheduler_site.preflight import DataFolderRefused, PortRefused, ServiceRunning


@pytest.fixture
def taken_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_taken_port_is_refused(taken_port):
    with pytest.raises(PortRefused, match=f"port {taken_port} on 127.0.0.1 is taken by another program"):
        preflight.check_port("127.0.0.1", taken_port)


def test_free_port_is_fine(taken_port):
    preflight.check_port("127.0.0.2", taken_port)


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
def test_address_of_another_machine_is_refused(host):
    with pytest.raises(PortRefused, match="give an address of this machine"):
        preflight.check_port(host, 8000)


def test_file_in_the_way_of_the_data_folder_is_refused(tmp_path):
    (tmp_path / "data").write_text("")
    with pytest.raises(DataFolderRefused, match="cannot be written"):
        preflight.check_data_folder(tmp_path / "data")


def test_folder_that_takes_no_file_is_refused():
    with pytest.raises(DataFolderRefused, match="set ROTA_DATA to another folder"):
        preflight.check_data_folder(Path("/proc/self"))


def test_network_file_system_is_refused_for_sqlite(tmp_path, monkeypatch):
    monkeypatch.setattr(preflight, "network_kind", lambda _folder: "nfs4")
    with pytest.raises(DataFolderRefused, match=r"network file system \(nfs4\)"):
        preflight.check_data_folder(tmp_path)


def test_second_service_is_refused_by_process_id(tmp_path):
    lock = tmp_path / "service.lock"
    hold = "import sys; from scheduler_site.preflight import hold_service_lock; from pathlib import Path;"
    hold += "f = hold_service_lock(Path(sys.argv[1])); print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", hold, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as service:
        service.stdout.readline()
        with pytest.raises(ServiceRunning, match=rf"process {service.pid}\) already runs on {tmp_path}"):
            preflight.hold_service_lock(lock)
        service.kill()
    with preflight.hold_service_lock(lock):
        assert lock.stat().st_mode & 0o777 == 0o600


@pytest.mark.django_db
def test_tables_of_this_version_are_fine():
    preflight.check_migrated()
