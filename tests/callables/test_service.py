"""Callables in the real service: they need no cores, end with it, and say so."""

import signal

import pytest

from dashboard.presentation.conditions import ran_rows
from jobs import actions, models
from jobs.execution.hostprocess import marked
from jobs.execution.launch import AttemptRef
from jobs.execution.log import read_text
from jobs.execution.prepare import path_of
from jobs.service.loop import utc_now
from tests.execution.running import is_alive
from tests.service.conftest import Home, home  # noqa: F401 - a fixture
from tests.waiting import DEADLINE_SECONDS, until


class Shop:
    """A service whose project has the shop."""

    def __init__(self, at: Home) -> None:
        self.home = at
        at.variables = {"ROTA_APPS": "tests.callables.shop"}

    def run(self, name: str, **fields: object) -> int:
        model = name.partition("_")[0]
        values = {"execution_model": "process" if model == "pooled" else model, "cores": int(model == "pooled")}
        job, _ = models.Job.objects.get_or_create(
            name=name, kind="callable", body=f"tests.callables.shop.jobs.{name}", defaults=values | fields
        )
        return actions.run_job(job.pk, actor="ann", now=utc_now()).instance_id

    def prints(self, instance_id: int, text: str) -> None:
        until(lambda: text in self.text(instance_id))

    def text(self, instance_id: int) -> str:
        attempt = self.attempt(instance_id)
        ref = attempt and AttemptRef(instance_id, attempt.number, attempt.token)
        return read_text(path_of(self.home.folder / "runs", ref)).text if ref else ""

    def attempt(self, instance_id: int) -> models.Attempt | None:
        return models.Attempt.objects.filter(instance_id=instance_id).last()

    def waits(self, name: str, **fields: object) -> int:
        instance_id = self.run(name, **fields)
        self.prints(instance_id, "waiting")
        return instance_id

    def hosts(self) -> list[int]:
        return [one.pid for one in marked(f"{self.home.folder.resolve()}#")]


@pytest.fixture
def shop(home: Home):  # noqa: F811 - the fixture
    shop = Shop(home)
    yield shop
    home.end()
    until(lambda: not shop.hosts())


def test_a_killed_service_takes_its_callables_with_it(shop: Shop):
    process = shop.home.start(cores=1)
    script = shop.home.submit("import time; print('waiting', flush=True); time.sleep(600)")
    refs = [shop.waits(name) for name in ("async_heeds", "thread_heeds")]
    shop.prints(script, "waiting")
    assert all(shop.attempt(ref).cores == [] for ref in refs)
    [ran] = ran_rows(shop.attempt(refs[1]))
    assert ("Run by", "a thread of the node's host process", "ends with the service") in ran[1].lines
    shop.home.kill(process)
    until(lambda: not shop.hosts())
    shop.home.start(cores=1)
    for ref in refs:
        lost = until(lambda ref=ref: models.Attempt.objects.filter(instance_id=ref, outcome="lost").first())
        assert "the service ended while it ran" in lost.error
        assert shop.home.status(ref) in ("retrying", "queued", "running")
    assert shop.home.status(script) == "running"
    actions.cancel_instance(script, actor="ann", now=utc_now())
    for ref in refs:
        actions.cancel_instance(ref, actor="ann", now=utc_now())
    assert set(shop.home.until_all_ended().values()) == {"cancelled"}


def test_abandoned_thread_keeps_the_place_of_its_job(shop: Shop):
    models.Limit.objects.create(kind="model", name="thread", maximum=1)
    process = shop.home.start(cores=1)
    deaf = shop.waits("thread_deaf")
    [host] = shop.hosts()
    actions.cancel_instance(deaf, actor="ann", now=utc_now())
    until(lambda: shop.home.status(deaf) == "cancelled")
    assert shop.attempt(deaf).abandoned_at is not None
    behind = shop.run("thread_heeds")
    until(lambda: models.Instance.objects.get(pk=behind).hold_code == "limit")
    assert models.Node.objects.get().abandoned == [shop.attempt(deaf).token]
    assert models.Event.objects.filter(kind="node.changed").latest("pk").data["abandoned"] == [deaf]
    process.send_signal(signal.SIGTERM)  # it hangs on neither
    assert process.wait(DEADLINE_SECONDS) == 0
    until(lambda: not is_alive(host))
    assert shop.home.status(behind) == "queued"
    assert models.Node.objects.get().abandoned == []
