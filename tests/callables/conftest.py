"""A node with hosts, shared by the tests of a module that leave these alive, and one for those that do not."""

import os

import pytest

from jobs.core.running import RunOptions
from jobs.execution import hostseats
from jobs.execution.hostseats import MARGIN_SECONDS
from jobs.execution.markers import read_progress
from tests.execution.node import Node
from tests.execution.running import end_marked
from tests.waiting import DEADLINE_SECONDS

SHOP = "tests.callables.shop.jobs"


class HostingNode(Node):
    """Starts callables of the shop by name: `node.run("async_ends", how="value")`."""

    number = 0

    def run(self, name, /, *, timeout_seconds=None, grace=5.0, start="auto", upstream="", keeps=1 << 20, **parameters):
        model = name.partition("_")[0]
        HostingNode.number += 1
        return self.launch(
            f"{SHOP}.{name}", HostingNode.number, kind="callable", parameters=parameters,
            model="process" if model == "pooled" else model, pooled=model == "pooled",
            timeout_seconds=timeout_seconds, kill_grace_seconds=grace, run=RunOptions(start=start),
            upstream_results=upstream, output_cap_bytes=keeps,
        )  # fmt: skip

    def waits(self, name, path=None, **more):
        """One that runs until it is asked to end, or there is a file `path`."""
        ref = self.run(name, **({"path": str(path)} if path else {}), **more)
        self.prints(ref, "waiting")
        return ref

    def progress(self, ref):
        return read_progress(self.path(ref))

    @property
    def hosts(self):
        return [host.process.pid for host in self.executor._hosts._alive]

    def said(self):
        return (self.data_dir / "logs/callables.log").read_text()

    def end(self):
        for executor in self.opened:
            executor.close()
        end_marked([ref.token for ref in self.refs])


@pytest.fixture(scope="module", autouse=True)
def _project():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "DJANGO_SETTINGS_MODULE", "scheduler_site.settings")
        patch.setitem(os.environ, "ROTA_APPS", "tests.callables.shop")
        yield


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """Else a host that a busy machine or its disk holds up for a second, at the end of an attempt, is killed with all
    that is in it.
    """
    monkeypatch.setattr(hostseats, "MARGIN_SECONDS", DEADLINE_SECONDS)


@pytest.fixture
def impatient(_patience, monkeypatch):
    """For those that are about this."""
    monkeypatch.setattr(hostseats, "MARGIN_SECONDS", MARGIN_SECONDS)


@pytest.fixture(scope="module")
def shared(tmp_path_factory, _project):
    node = HostingNode(tmp_path_factory.mktemp("node"))
    yield node
    node.end()


@pytest.fixture
def alone(tmp_path):
    node = HostingNode(tmp_path / "node")
    yield node
    node.end()


@pytest.fixture
def free(tmp_path):
    """The file for which the callables wait; made in the end, so that no thread outlives its test."""
    file = tmp_path / "free"
    yield file
    file.touch()
