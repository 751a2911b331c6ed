"""The HTTP server for read-only pages of a live node: metrics and status.

It answers GET and HEAD, one request per connection, from a fixed table of paths.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import NamedTuple

from halfway.live.addresses import is_loopback, listening_address, shown, unavailable

MOST_HEAD = 8192  # bytes of a request
MOST_CONNECTIONS = 32  # connections at a time; a further one is closed
_REQUEST_S = 5.0
_SAFE = (
    "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\nConnection: close\r\n"
)


class Resource(NamedTuple):
    """The answer to a path of the HTTP server: its type, and a function for its content."""

    type: str
    content: Callable[[], bytes]
    policy: str = "default-src 'none'"  # the content security policy


class HttpServer:
    """The server of one address. Use `async with HttpServer(field, "[HOST:]PORT", resources)`.

    field: the name of the option in errors. only_here: refuse requests for other host names, so
    that no page of another site can read the answers (DNS rebinding).
    """

    def __init__(
        self,
        field: str,
        address: str,
        resources: Mapping[str, Resource],
        *,
        only_here: bool = False,
    ) -> None:
        self._field, self._text, self._resources = field, address, resources
        self._only_here = only_here
        self._connections = 0
        self.address = ""

    async def __aenter__(self) -> "HttpServer":
        """Listen with the HTTP server. Raises Problem where the address is not available."""
        host, port = listening_address(self._field, self._text)
        try:
            self._server = await asyncio.start_server(self._serve, host, port, limit=MOST_HEAD)
        except OSError as error:
            raise unavailable(self._field, self._text, error) from None
        self.address = shown(self._server.sockets[0].getsockname()[:2])
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            with contextlib.suppress(ConnectionError, TimeoutError, asyncio.CancelledError):
                if self._connections <= MOST_CONNECTIONS:
                    async with asyncio.timeout(_REQUEST_S):
                        writer.write(await self._answer(reader))
                        await writer.drain()
        finally:
            self._connections -= 1
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return _response(400, "text/plain", b"bad request\n")
        words, fields = head.split("\r\n", 1)[0].split(" "), head.lower()
        if len(words) != 3 or words[0] not in ("GET", "HEAD"):
            return _response(405, "text/plain", b"only GET is answered\n")
        if self._only_here and not _is_for_here(fields):
            return _response(403, "text/plain", b"this page is for its own machine\n")
        resource = self._resources.get(words[1].partition("?")[0])
        if resource is None:
            return _response(404, "text/plain", b"no such page\n")
        answer = _response(200, resource.type, resource.content(), resource.policy)
        return answer if words[0] == "GET" else answer[: answer.index(b"\r\n\r\n") + 4]


def _is_for_here(fields: str) -> bool:
    """Return whether the Host of an HTTP request is this machine itself."""
    for line in fields.split("\r\n")[1:]:
        name, _, value = line.partition(":")
        if name == "host":
            host = value.strip().rpartition(":")[0] or value.strip()
            return host == "localhost" or is_loopback((host.strip("[]"), 0))
    return False


def _response(status: int, type_: str, content: bytes, policy: str = "default-src 'none'") -> bytes:
    words = {
        200: "OK",
        400: "Bad Request",
        403: "Forbidden",
        404: "Not Found",
        405: "Method Not Allowed",
    }
    head = (
        f"HTTP/1.1 {status} {words[status]}\r\nContent-Type: {type_}\r\n"
        f"Content-Length: {len(content)}\r\nContent-Security-Policy: {policy}\r\n{_SAFE}\r\n"
    )
    return head.encode() + content
