"""Kill the service at any point: every script runs once, every outcome is recorded, every core comes back."""

import os
import signal

import pytest

from jobs import models
from jobs.execution.tree import all_processes, read_proc
from tests.service.conftest import Home
from tests.service.crashing import ROWS
from tests.waiting import DEADLINE_SECONDS, until

APPEND = """
import os, pathlib, time
with open({file!r}, "a") as file:
    file.write(os.environ["ROTA_INSTANCE_ID"] + "\\n")
while not pathlib.Path({gate!r}).exists():
    time.sleep(0.02)
"""


class Scripts:
    """Scripts that note each start in one file and end when a gate is opened."""

    def __init__(self, home: Home, count: int) -> None:
        self.file, self.gate = home.folder / "started", home.folder / "gate"
        script = APPEND.format(file=str(self.file), gate=str(self.gate))
        self.ids = [home.submit(script) for _ in range(count)]

    def starts(self) -> list[int]:
        return sorted(map(int, self.file.read_text().split())) if self.file.exists() else []

    def open_gate(self) -> None:
        self.gate.touch()


def assert_all_is_settled(home: Home, scripts: Scripts) -> None:
    assert home.until_all_ended() == dict.fromkeys(scripts.ids, "success")
    assert scripts.starts() == scripts.ids
    assert not models.Attempt.objects.exclude(status="ended").exists()
    assert models.Attempt.objects.count() == len(scripts.ids)


def assert_every_core_is_free(home: Home, slots: int) -> None:
    all_of_it = home.submit("pass", name="needs every slot", cpu_cores_required=slots)
    until(lambda: home.status(all_of_it) == "success")


def launcher_of(pid: int) -> int:
    """Not another child: a service asks at its start, too, which Pythons there are."""
    children = [one.pid for one in all_processes() if one.parent == pid]
    (launcher,) = [child for child in children if b"jobs.execution" in read_proc(child, "cmdline")]
    return launcher


def test_ten_scripts_outlive_the_service(home: Home):
    scripts = Scripts(home, 10)
    service = home.start(cores=10)
    until(lambda: scripts.starts() == scripts.ids)
    home.kill(service)
    home.start(cores=10)
    until(lambda: "adopted" in (home.folder / "logs" / "service.log").read_text())
    scripts.open_gate()
    assert_all_is_settled(home, scripts)
    assert_every_core_is_free(home, 15)


def test_ten_scripts_outlive_service_and_launcher(home: Home):
    scripts = Scripts(home, 10)
    service = home.start(cores=10)
    until(lambda: scripts.starts() == scripts.ids)
    launcher = launcher_of(service.pid)
    os.kill(launcher, signal.SIGSTOP)  # else it may be gone with the service before it is killed
    home.kill(service)
    os.kill(launcher, signal.SIGKILL)
    home.start(cores=10)
    scripts.open_gate()
    assert_all_is_settled(home, scripts)
    assert_every_core_is_free(home, 15)


def test_scripts_end_while_no_service_is_there(home: Home):
    scripts = Scripts(home, 10)
    service = home.start(cores=10)
    until(lambda: scripts.starts() == scripts.ids)
    home.kill(service)
    scripts.open_gate()
    runs = home.folder / "runs"
    until(lambda: len(list(runs.glob("*/*/result.json"))) == 10)
    home.start(cores=10)
    assert_all_is_settled(home, scripts)
    assert_every_core_is_free(home, 15)


@pytest.mark.parametrize("row", ROWS)
def test_killed_at_each_row_of_the_table(home: Home, row: str):
    scripts = Scripts(home, 10)
    scripts.open_gate()
    crashed = home.start(crash_at=row, cores=10)
    assert crashed.wait(DEADLINE_SECONDS) == -signal.SIGKILL
    if row == "0 start decided":
        assert list((home.folder / "runs").iterdir()) == []  # nothing is done that is not durable
    home.start(cores=10)
    assert_all_is_settled(home, scripts)
    assert_every_core_is_free(home, 15)


def test_stopped_service_leaves_scripts_alive(home: Home):
    scripts = Scripts(home, 2)
    service = home.start()
    until(lambda: scripts.starts() == scripts.ids)
    service.terminate()
    assert service.wait(DEADLINE_SECONDS) == 0
    assert models.Node.objects.get().stopped_at is not None
    assert "2 scripts run on, and the next start adopts them" in home.output()
    home.start()
    scripts.open_gate()
    assert_all_is_settled(home, scripts)


def test_wish_to_cancel_made_while_down_is_kept(home: Home):
    from jobs import actions
    from jobs.service.loop import utc_now

    scripts = Scripts(home, 1)
    service = home.start()
    until(lambda: scripts.starts() == scripts.ids)
    home.kill(service)
    actions.cancel_instance(scripts.ids[0], actor="ann", now=utc_now())
    home.start()
    assert home.until_all_ended() == {scripts.ids[0]: "cancelled"}


def test_second_service_on_the_folder_is_refused(home: Home):
    home.start()
    until(lambda: "runs without" in home.output())
    second = home.start()
    assert second.wait(DEADLINE_SECONDS) != 0
    assert "another service" in home.output()
    assert "Traceback" not in home.output()
