import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.conf import settings

from jobs import actions, models
from jobs.core.states import TERMINAL
from jobs.execution import cgroup_search
from jobs.service.loop import utc_now
from tests.execution.running import end_marked
from tests.fixtures.migrated import default_file
from tests.fixtures.postgres import default_database
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Home:
    """A data folder of a service, which this test's own Django reads and writes too."""

    folder: Path
    database_url: str = ""
    node: str = "here"
    variables: dict[str, str] = field(default_factory=dict)
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *arguments: str, crash_at: str = "", cores: int = 2) -> subprocess.Popen[bytes]:
        """`runscheduler`, without the web unless `--port` is among the arguments."""
        begin = ["-m", "tests.service.crashing", crash_at] if crash_at else ["manage.py"]
        web = [] if "--port" in arguments else ["--no-web"]
        command = [sys.executable, *begin, "runscheduler", "--node", self.node, "--cores", str(cores), *web, *arguments]
        environment = {"ROTA_DATA": str(self.folder), "PATH": os.environ["PATH"], "ROTA_MIN_FREE_DISK_MB": "0"}
        environment |= self.variables
        environment |= {"DATABASE_URL": self.database_url} if self.database_url else {}
        with (self.folder / "output").open("ab") as output:
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
        self.running.append(process)
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()

    def submit(self, script: str, name: str = "", **fields) -> int:
        raw = {
            "name": name or f"job {uuid.uuid4().hex}",
            "kind": "script",
            "script_content": script,
            "schedule_type": "once",
            "max_retries": 0,
            **fields,
        }
        created = actions.create_job(raw, actor="ann", now=utc_now())
        assert created.instance_id is not None
        return created.instance_id

    def statuses(self) -> dict[int, str]:
        return dict(models.Instance.objects.values_list("pk", "status"))

    def status(self, instance_id: int) -> str:
        return self.statuses()[instance_id]

    def until_all_ended(self) -> dict[int, str]:
        return until(lambda: (now := self.statuses()) and set(now.values()) <= TERMINAL and now)

    def end(self) -> None:
        """The service, and what outlives it: scripts that wait for a test that has failed would do so for ever."""
        for process in self.running:
            self.kill(process)
        end_marked(list(models.Attempt.objects.exclude(status="ended").values_list("token", flat=True)))
        cgroup_search.sweep(cgroup_search.bases(self.folder))

    def output(self) -> str:
        return (self.folder / "output").read_text()


@pytest.fixture
def home(migrated_file: Path, tmp_path: Path, django_db_blocker) -> Iterator[Home]:
    with django_db_blocker.unblock(), home_in(tmp_path, migrated_file) as home:
        yield home


@pytest.fixture(scope="module")
def at_work(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory, django_db_blocker) -> Iterator[Home]:
    """One whose service runs, for all tests of a module that leave it as it was."""
    with django_db_blocker.unblock(), home_in(tmp_path_factory.mktemp("home"), migrated_file) as home:
        home.start()
        yield home


@contextmanager
def home_in(folder: Path, migrated_file: Path) -> Iterator[Home]:
    shutil.copy(migrated_file, folder / "db.sqlite3")
    with pytest.MonkeyPatch.context() as patch, default_file(folder / "db.sqlite3"):
        patch.setattr(settings, "DATA_DIR", folder)
        home = Home(folder)
        try:
            yield home
        finally:
            home.end()


@pytest.fixture
def two_nodes(postgres_url: str, tmp_path: Path, settings, django_db_blocker) -> Iterator[list[Home]]:
    """Two data folders, as of two machines, on one PostgreSQL database."""
    nodes = [Home(tmp_path / name, postgres_url, name) for name in ("left", "right")]
    for node in nodes:
        node.folder.mkdir()
    settings.DATA_DIR = nodes[0].folder
    with django_db_blocker.unblock(), default_database(postgres_url):
        try:
            yield nodes
        finally:
            for node in nodes:
                node.end()
