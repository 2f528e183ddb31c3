"""The example of docs/proxy.md in a real nginx, before a real service below /rota."""

import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from tests.browser.conftest import free_port
from tests.fixtures.requirements import missing
from tests.waiting import DEADLINE_SECONDS, until

ROOT = Path(__file__).resolve().parents[2]
HTTP = """
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
{user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {servers}
}}
"""


@dataclass
class Proxy:
    """Addresses: as the example is, with TLS told by the proxy, with sockets blocked, with the path taken off."""

    plain: str
    tls: str
    blocked: str
    stripped: str
    password: str


@pytest.fixture(scope="module")
def proxy(bootstrapped, tmp_path_factory):
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if nginx is None:
        missing("nginx", "no nginx: put it on PATH (apt-get install nginx)")
    folder = tmp_path_factory.mktemp("proxy")
    ports = five_ports()
    environment = {
        "PATH": os.environ["PATH"], "ROTA_DATA": str(folder / "data"), "ROTA_SUB_PATH": "/rota",
        "ROTA_TRUSTED_PROXY": "127.0.0.1", "ROTA_MIN_FREE_DISK_MB": "0",
    }  # fmt: skip
    shutil.copytree(bootstrapped.folder, folder / "data")
    (folder / "nginx.conf").write_text(configuration(folder, *ports))
    serve = [sys.executable, "manage.py", "runscheduler", "--node", "atlas", "--cores", "1", "--port", str(ports[0])]
    with (
        (folder / "output").open("ab") as output,
        subprocess.Popen(serve, cwd=ROOT, env=environment, stdout=output, stderr=output) as service,
        subprocess.Popen([nginx, "-p", folder, "-c", folder / "nginx.conf"], stderr=output) as server,
    ):
        try:
            addresses = [f"http://127.0.0.1:{port}/rota/" for port in ports[1:]]
            until(lambda: answers(addresses[0], service, server))
            yield Proxy(*addresses, password=re.search(r"^    (\S+)$", bootstrapped.said, re.MULTILINE)[1])
        finally:
            server.terminate()
            service.terminate()


def five_ports():
    """No two the same, as one in two thousand times there would be: none is taken yet when the next is drawn."""
    ports = set()
    while len(ports) < 5:
        ports.add(free_port())
    return list(ports)


def configuration(folder, service, plain, tls, blocked, stripped):
    example = re.search(r"```nginx\n(.*?)```", (ROOT / "docs" / "proxy.md").read_text(), re.DOTALL)[1]
    upgrading, mark, server = example.partition("server {")
    server = re.sub(r" *ssl_.*\n", "", mark + server).replace("127.0.0.1:8000", f"127.0.0.1:{service}")

    def listening(port, text=server):
        return text.replace("443 ssl", f"127.0.0.1:{port}")

    servers = [
        upgrading,
        listening(plain),
        listening(tls, server.replace("$scheme", "https")),
        listening(blocked, re.sub(r".*(Upgrade|Connection) .*\n", "", server)),
        listening(stripped, server.replace(f":{service};", f":{service}/;")),
    ]
    user = "user root;" if os.geteuid() == 0 else ""  # its workers must reach the test's folder
    return HTTP.format(folder=folder, user=user, servers="\n".join(servers))


def answers(address, *processes):
    assert all(process.poll() is None for process in processes)
    try:
        return visitor().open(f"{address}login/", timeout=DEADLINE_SECONDS).status == 200
    except OSError:
        return False


def visitor():
    found = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    found.jar = next(handler.cookiejar for handler in found.handlers if hasattr(handler, "cookiejar"))
    return found


def sign_in(who, address, password, **headers):
    page = who.open(f"{address}login/").read().decode()
    token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', page)[1]
    data = urllib.parse.urlencode({"username": "admin", "password": password, "csrfmiddlewaretoken": token})
    return who.open(urllib.request.Request(f"{address}login/", data.encode(), headers))  # noqa: S310  # our own


@pytest.mark.parametrize("way", ["plain", "stripped"])
def test_everything_lives_below_the_sub_path(proxy, way):
    address, who = getattr(proxy, way), visitor()
    page = sign_in(who, address, proxy.password)
    assert page.url == address
    text = page.read().decode()
    linked = re.findall(r'(?:href|src|action|data-\w+-?url|data-socket)="(/[^"]*)"', text)
    assert linked
    assert all(link.startswith("/rota/") for link in linked)
    assert {cookie.path for cookie in who.jar} == {"/rota/"}
    style = next(link for link in linked if link.endswith(".css"))
    assert who.open(urllib.parse.urljoin(address, style)).status == 200
    assert who.open(f"{address}admin/jobs/job/").status == 200
    assert who.open(f"{address}api/v1/jobs").status == 200


def test_form_of_a_tls_page_is_accepted(proxy):
    origin = proxy.tls.replace("http:", "https:").removesuffix("/rota/")
    page = sign_in(visitor(), proxy.tls, proxy.password, Origin=origin)
    assert page.url == proxy.tls


def test_form_of_another_origin_is_refused(proxy):
    with pytest.raises(urllib.error.HTTPError, match="403"):
        sign_in(visitor(), proxy.tls, proxy.password, Origin="https://evil.example")


@pytest.mark.parametrize(("way", "state"), [("plain", "live"), ("stripped", "live"), ("blocked", "polling")])
def test_page_goes_live_or_polls_where_sockets_are_blocked(proxy, page, way, state):
    address = getattr(proxy, way)
    page.goto(f"{address}login/")
    page.fill("[name=username]", "admin")
    page.fill("[name=password]", proxy.password)
    page.keyboard.press("Enter")
    page.wait_for_url(address)
    page.locator("#connection", has_text=state).wait_for()
