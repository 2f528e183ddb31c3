"""Below a path, behind a proxy: what it says is believed from it alone, and all addresses still fit."""

import asyncio
from ipaddress import ip_network

import pytest

from scheduler_site import environment
from scheduler_site.environment import SettingError
from scheduler_site.proxy import BehindProxy


def seen(scope, sub_path="", trusted=("10.0.0.0/8",)):
    """What the application within gets to see."""
    scopes = []

    async def application(scope, _receive, _send):
        scopes.append(scope)

    whole = {"type": "http", "path": "/jobs/", "scheme": "http", "client": ["10.0.0.1", 5], "headers": []} | scope
    behind = BehindProxy(application, sub_path=sub_path, trusted=[ip_network(network) for network in trusted])
    asyncio.run(behind(whole, None, None))
    return scopes[0]


def forwarded(addresses=None, protocol=None):
    headers = [(b"x-forwarded-for", line.encode()) for line in addresses or ()]
    return headers + ([(b"x-forwarded-proto", protocol.encode())] if protocol else [])


@pytest.mark.parametrize(
    ("lines", "visitor"),
    [
        (["203.0.113.9"], "203.0.113.9"),
        (["6.6.6.6, 203.0.113.9"], "203.0.113.9"),
        (["6.6.6.6", "203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        (["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        (["2001:db8::1"], "2001:db8::1"),
        (["<script>, 10.0.0.2"], "10.0.0.2"),
        (["unknown"], "10.0.0.1"),
        ([], "10.0.0.1"),
    ],
)
def test_visitor_is_the_last_that_no_proxy_is(lines, visitor):
    assert seen({"headers": forwarded(lines)})["client"][0] == visitor


@pytest.mark.parametrize("client", [["203.0.113.9", 5], None])
def test_stranger_is_not_believed(client):
    scope = seen({"client": client, "headers": forwarded(["1.1.1.1"], "https")})
    assert (scope["client"], scope["scheme"]) == (client, "http")


@pytest.mark.parametrize(
    ("type_", "protocol", "scheme"),
    [("http", "https", "https"), ("websocket", "https", "wss"), ("http", "javascript", "http"), ("http", None, "http")],
)
def test_scheme_is_the_one_that_the_proxy_tells(type_, protocol, scheme):
    assert seen({"type": type_, "headers": forwarded(protocol=protocol)})["scheme"] == scheme


@pytest.mark.parametrize(
    ("path", "whole"),
    [("/rota/jobs/", "/rota/jobs/"), ("/jobs/", "/rota/jobs/"), ("/rota", "/rota/"), ("/rotary/", "/rota/rotary/")],
)
def test_path_is_whole_whatever_the_proxy_takes_off(path, whole):
    scope = seen({"path": path}, sub_path="/rota")
    assert (scope["path"], scope["root_path"]) == (whole, "/rota")


def test_visitor_cannot_choose_the_sub_path():
    assert seen({"root_path": "/evil"})["root_path"] == ""


@pytest.mark.parametrize(
    ("given", "meant"), [("", ""), ("/", ""), ("rota", "/rota"), ("/rota/", "/rota"), ("/a/b", "/a/b")]
)
def test_sub_path_is_read_in_any_form(monkeypatch, given, meant):
    monkeypatch.setenv("ROTA_THING", given)
    assert environment.sub_path("ROTA_THING") == meant


@pytest.mark.parametrize("given", ["/a b", "/../etc", "a//b", "/é", "/a?b", "http://x/rota"])
def test_impossible_sub_path_is_refused(monkeypatch, given):
    monkeypatch.setenv("ROTA_THING", given)
    with pytest.raises(SettingError, match="Say for example /rota"):
        environment.sub_path("ROTA_THING")


@pytest.mark.parametrize("given", ["proxy.example", "10.0.0.1/8", "10.0.0.0/40", "*"])
def test_trusted_proxy_without_an_address_is_refused(monkeypatch, given):
    monkeypatch.setenv("ROTA_THING", f"127.0.0.1,{given}")
    with pytest.raises(SettingError, match="an IP address or a network"):
        environment.networks("ROTA_THING")
