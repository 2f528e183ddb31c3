"""Callables that behave badly, beside scripts, pages and fires of a real service."""

import http.client
import json

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client

from jobs import models
from jobs.api.tokens import make_token
from jobs.service.clock import utc_now
from tests.browser.conftest import free_port
from tests.service.conftest import Home
from tests.waiting import DEADLINE_SECONDS, until

SHOP = "tests.callables.shop"


class Api:
    def __init__(self, port: int) -> None:
        self.port = port
        owner = get_user_model().objects.create_superuser("ann")
        self.headers = {"Authorization": f"Bearer {make_token(owner, label='', now=utc_now())}"}
        browser = Client()
        browser.force_login(owner)
        self.headers["Cookie"] = browser.cookies.output(header="", attrs=[]).strip()

    def ask(self, method: str, path: str, **body: object) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_SECONDS)
        try:
            headers = self.headers | {"Content-Type": "application/json"}
            connection.request(method, path, json.dumps(body) if body else None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def answers(self) -> bool:
        try:
            return self.ask("GET", "/healthz")[0] == 200
        except OSError:
            return False

    def run(self, **fields: object) -> int:
        status, body = self.ask("POST", "/api/v1/jobs", max_retries=0, **fields)
        assert status == 201, body
        return int(json.loads(body)["instance_id"] or 0)


@pytest.fixture
def api(home: Home) -> Api:
    home.variables = {"ROTA_APPS": SHOP, "ROTA_DEBUG": "1"}
    (home.folder / "secret_key").write_text(settings.SECRET_KEY)  # so that a session made here is one of the service
    api = Api(free_port())
    home.start("--port", str(api.port))
    until(api.answers)
    return api


def test_blocking_and_exiting_callables_delay_nobody(home: Home, api: Api):
    blocker = api.run(name="blocks", callable=f"{SHOP}.jobs.async_sleeps")
    until(lambda: home.status(blocker) == "running")
    exiter = api.run(name="exits", callable=f"{SHOP}.jobs.async_exits")
    every = api.ask("POST", "/api/v1/jobs", name="often", command="true", schedule_type="interval",
                    schedule_expression="1s", first_at_once=True)  # fmt: skip
    script = api.run(name="script", script_content="print('hi')")
    assert every[0] == 201
    until(lambda: home.status(script) == "success")
    until(lambda: models.Instance.objects.filter(job__name="often", status="success").count() >= 2)
    until(lambda: home.status(exiter) == "failed")
    assert b"blocks" in api.ask("GET", f"/instances/{blocker}/")[1]
    assert home.status(blocker) == "running"
    assert models.Instance.objects.get(pk=exiter).exit_code == 3
    (home.folder / "free").touch()
    until(lambda: home.status(blocker) == "success")
