"""What a proxy in front of Rota says about a request, and the path below which Rota lives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any

Network = IPv4Network | IPv6Network
Application = Callable[..., Awaitable[None]]
Scope = MutableMapping[str, Any]


class BehindProxy:
    """Outermost of the application: all within sees the visitor's own address and scheme, and whole paths.

    Anybody can send these headers. They are believed only when the connection comes from a `trusted` network; else a
    visitor could choose the address that the throttling of logins counts by.
    """

    def __init__(self, application: Application, *, sub_path: str, trusted: Sequence[Network]) -> None:
        self.application = application
        self.sub_path = sub_path
        self.trusted = trusted

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] in ("http", "websocket"):
            scope = {**scope, **self._forwarded(scope), **self._placed(scope)}
        await self.application(scope, receive, send)

    def _forwarded(self, scope: Scope) -> dict[str, Any]:
        client = scope.get("client")
        if not client or not self._is_trusted(client[0]):
            return {}
        headers = scope.get("headers", ())
        found: dict[str, Any] = {"client": [self._visitor(client[0], _words(headers, b"x-forwarded-for")), client[1]]}
        protocol = _words(headers, b"x-forwarded-proto")
        if protocol and protocol[-1] in ("http", "https"):
            found["scheme"] = protocol[-1] if scope["type"] == "http" else protocol[-1].replace("http", "ws")
        return found

    def _visitor(self, nearest: str, addresses: Sequence[str]) -> str:
        """The last address that no trusted proxy has: what stands before it the visitor may have made up."""
        for address in reversed(addresses):
            if not _is_address(address):
                break
            nearest = address
            if not self._is_trusted(address):
                break
        return nearest

    def _is_trusted(self, address: str) -> bool:
        return _is_address(address) and any(ip_address(address) in network for network in self.trusted)

    def _placed(self, scope: Scope) -> dict[str, Any]:
        """The path with the sub-path before it, whether or not the proxy took that off. A visitor cannot choose it."""
        path = scope["path"]
        if self.sub_path and not f"{path}/".startswith(f"{self.sub_path}/"):
            path = self.sub_path + path
        elif path == self.sub_path:
            path += "/"
        return {"path": path, "root_path": self.sub_path}


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _words(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> list[str]:
    """All values of a header, in order; one line may hold several."""
    lines = [value.decode("latin-1") for given, value in headers if given.lower() == name]
    return [word.strip() for line in lines for word in line.split(",") if word.strip()]
