"""The control server, which passes the requests of local commands to the nodes of its process.

Every connection has a bounded queue. A subscriber that does not read loses only its own events, and
the server counts the losses.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine
from pathlib import Path
from typing import Any

import msgspec

from halfway.live.control.control_requests import (
    MOST_LINE,
    REQUESTS,
    Answer,
    Done,
    MembersRequest,
    MoveRequest,
    Ping,
    Pong,
    PublishRequest,
    RecordRequest,
    RefusedAnswer,
    RouteRequest,
    StatusAnswer,
    SubscribeRequest,
    expiry_of,
    line,
)
from halfway.live.control.event_answers import event_answers
from halfway.live.control.member_answers import member_answers
from halfway.live.control.places import answers, listening, path_for
from halfway.live.control.route_answers import route
from halfway.live.mesh import Refusal
from halfway.live.runtime.host import Host
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.runtime.status import status_of
from halfway.live.trace.recorder import Recorder
from halfway.problem import Problem

MOST_CONNECTIONS = 256  # connections at a time; a further one is refused
_TOO_MANY = f"this process already serves {MOST_CONNECTIONS} commands"
_LAST_TURNS = 8  # of the event loop, in which it opens or closes the last connections
_PING_S = 2.0
_POLL_S = 0.02
_MOST_RECORD_S = 86_400.0


class ControlServer:
    """The control server of a host. `async with ControlServer(host, name)`."""

    def __init__(self, host: Host, name: str) -> None:
        self._host, self._path = host, path_for(name)
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._is_closed = False

    @property
    def path(self) -> Path:
        """The path of the control server's socket."""
        return self._path

    async def __aenter__(self) -> "ControlServer":
        """Open the control socket. Raises Problem if another process has a node of that name."""
        if self._path.exists():
            if answers(self._path):
                what = f"name = {self._path.stem}: a node with this name is already running"
                raise Problem(what, remedy="choose another --name")
            self._path.unlink()
        try:
            self._server = await asyncio.start_unix_server(
                self._connected, sock=listening(self._path), limit=MOST_LINE
            )
        except OSError as error:
            what = f"cannot listen for commands: {error.strerror or error}"
            remedy = "use a folder that you can write to"
            raise Problem(what, where=str(self._path), remedy=remedy) from None
        return self

    async def __aexit__(self, *_: object) -> None:
        self._is_closed = True
        if self._server is not None:
            # asyncio loses the sockets that it accepted in the turn before `close`.
            for listener in self._server.sockets:
                asyncio.get_running_loop().remove_reader(listener.fileno())
            await _last_turns()
            self._server.close()
        connections = dict(self._connections)
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        for writer in connections.values():
            writer.transport.abort()  # a client that reads nothing would hold it open
        await _last_turns()
        with contextlib.suppress(OSError):
            self._path.unlink()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a new connection. The node may end before the task of the connection begins."""
        if self._is_closed:
            writer.transport.abort()
            return
        task = asyncio.get_running_loop().create_task(self._answered(reader, writer))
        self._connections[task] = writer
        task.add_done_callback(self._connections.pop)

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            # The client may close the connection at any time, and a node that ends cancels this
            # task.
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                if len(self._connections) <= MOST_CONNECTIONS:
                    await self._serve(reader, writer)
                else:
                    await _answer(writer, RefusedAnswer(_TOO_MANY, "end another command first"))
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = REQUESTS.decode(await reader.readline())
            node = self._node(request.node)
            if isinstance(request, SubscribeRequest):
                await _until_gone(_answer_all(writer, event_answers(node, request)), reader)
            elif isinstance(request, Ping):
                await self._ping(node, request, writer)
            elif isinstance(request, MembersRequest):
                await _until_gone(_answer_all(writer, member_answers(node, request)), reader)
            elif isinstance(request, RouteRequest):
                async for hop in route(node, request):
                    await _answer(writer, hop)
            else:
                await _answer(writer, await self._once(node, request))
        except (ValueError, msgspec.DecodeError) as error:
            await _answer(writer, RefusedAnswer(f"not a request: {error}"))
        except Problem as problem:
            await _answer(writer, RefusedAnswer(problem.what, problem.remedy))
        except Refusal as refusal:
            await _answer(writer, RefusedAnswer(str(refusal), refusal.remedy))

    async def _once(self, node: MeshNode, request: object) -> Answer:
        """Return the control server's answer to a request that has exactly one answer."""
        if isinstance(request, PublishRequest):
            await _wait_for_neighbour(node, request.link_s)
            for payload in request.payloads:
                await node.publish(
                    request.topic,
                    payload,
                    level=request.level,
                    retain=request.retain,
                    expiry_s=expiry_of(request),
                )
            return Done(len(request.payloads), len(node.links.table.neighbours()))
        if isinstance(request, RecordRequest):
            seconds = min(max(request.seconds, 0.0), _MOST_RECORD_S)
            recorder = Recorder(node, Path(request.path))
            await asyncio.sleep(seconds)
            return Done(recorder.close())
        if isinstance(request, MoveRequest):
            self._host.move(node, (request.x, request.y))
            return Done(1, len(node.links.table.neighbours()))
        return StatusAnswer(status_of(self._host, node))

    def _node(self, name: str) -> MeshNode:
        for node in self._host.nodes:
            if name in ("", node.name, str(node.node_id)):
                return node
        known = ", ".join(node.name for node in self._host.nodes[:8])
        raise Problem(f"node = {name}: no such node", remedy=f"this process has {known}")

    async def _ping(self, node: MeshNode, request: Ping, writer: asyncio.StreamWriter) -> None:
        peer, name = _neighbour(node, request.to)
        for number in range(request.count):
            answered: asyncio.Future[float] = asyncio.get_running_loop().create_future()

            def take(seconds: float, future: "asyncio.Future[float]" = answered) -> None:
                if not future.done():
                    future.set_result(seconds)

            key = node.links.ping(peer, take)
            try:
                seconds: float | None = await asyncio.wait_for(answered, _PING_S)
            except TimeoutError:
                node.links.pongs.pop(key, None)
                seconds = None
            await _answer(writer, Pong(peer, name, number, seconds))


def _neighbour(node: MeshNode, wanted: str) -> tuple[int, str]:
    """Return the id and the name of a neighbour in a control request, given either."""
    heard = node.links.table.heard()
    for peer in node.links.table.neighbours():
        if wanted in (str(peer), heard[peer].hello.name):
            return peer, heard[peer].hello.name
    known = (
        ", ".join(heard[peer].hello.name for peer in node.links.table.neighbours()[:8]) or "none"
    )
    raise Problem(
        f"node = {wanted}: no neighbour of {node.name} has this name", remedy=f"neighbours: {known}"
    )


async def _wait_for_neighbour(node: MeshNode, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while not node.links.table.neighbours() and loop.time() < until:
        await asyncio.sleep(_POLL_S)


async def _last_turns() -> None:
    for _ in range(_LAST_TURNS):
        await asyncio.sleep(0)


async def _until_gone(work: Coroutine[Any, Any, None], reader: asyncio.StreamReader) -> None:
    """Answer a request of the control socket until all answers are sent, or the client ends."""
    answering = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(reader.read())  # the client writes nothing more
    try:
        await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            await answering  # raises its error
    finally:
        gone.cancel()
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)


async def _answer_all(writer: asyncio.StreamWriter, answers: AsyncGenerator[Answer]) -> None:
    async with contextlib.aclosing(answers):
        async for one in answers:
            await _answer(writer, one)


async def _answer(writer: asyncio.StreamWriter, one: Answer) -> None:
    writer.write(line(one))
    await writer.drain()
