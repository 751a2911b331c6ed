"""The answers to `halfway route`: hops on the path to a node, or of a probe event on a topic."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from halfway.live.control.control_requests import Hopped, Routed, RouteRequest
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.runtime.probe_routes import HERE, Hop

_MOST_S = 60.0
_SEARCHES = 4  # searches for a node before its name is taken as a topic: frames get lost
_SEARCH_S = 0.4  # seconds of one search
MOST_ANSWERS = 1024  # answers to one request that wait
_QUIET_S = 0.5  # seconds after the answer of the target


async def route(node: MeshNode, request: RouteRequest) -> AsyncIterator[Hopped | Routed]:
    """Yield each hop of a `halfway route` when its answer arrives, and at the end the target of the
    request.

    Raises Refusal for a text that is not a topic, or for a topic that the node may not publish on.
    """
    is_topic = request.is_topic or "/" in request.to
    seconds = min(max(request.seconds, 0.1), _MOST_S)
    is_found = False
    with contextlib.ExitStack() as ends:
        answers = _Answers(node, ends)
        if not is_topic:
            async for hop in _searched(request.to, min(seconds, _SEARCH_S), answers):
                is_found = is_found or hop.why == HERE
                yield hop
        if not is_found:
            is_topic = True
            answers.probe(request.to)
            async for hop in answers.until(seconds):
                yield hop
    table = node.links.table
    yield Routed(is_topic, node.node_id, len(table.neighbours()), len(table.heard()))


async def _searched(name: str, seconds: float, answers: "_Answers") -> AsyncIterator[Hopped]:
    """Yield the first answer of each node to up to four searches for a node, one after another.

    A search ends after its seconds. Half a second after the answer of the target, all searches end.
    Answers to an earlier search count.
    """
    seen = set[int]()
    for _ in range(_SEARCHES):
        answers.search(name)
        arrived = False
        async for answer in answers.until(seconds):
            if answer.why == HERE and not arrived:
                arrived = True
                answers.end_in(_QUIET_S)
            if answer.node not in seen:
                seen.add(answer.node)
                yield answer
        if arrived:
            return


class _Answers:
    """The answers to the probe or the searches of one `halfway route`, until the stack `ends`."""

    def __init__(self, node: MeshNode, ends: contextlib.ExitStack) -> None:
        self._node, self._ends = node, ends
        self._queue = asyncio.Queue[Hopped](MOST_ANSWERS)
        self._loop = asyncio.get_running_loop()
        self._until = 0.0

    def search(self, name: str) -> None:
        """Let the node search for the target of a `halfway route`, and take the answers."""
        key = self._node.routes.search(name, self._node.identity.incarnation, self._take)
        self._ends.callback(self._node.routes.end, key)
        self._node.links.flush()

    def probe(self, topic: str) -> None:
        """Let the node send the probe events of a `halfway route` on a topic, and take the
        answers.
        """
        for key in self._node.probe(topic, self._take):
            self._ends.callback(self._node.routes.end, key)

    def _take(self, hop: Hop, there_and_back_s: float) -> None:
        if not self._queue.full():
            self._queue.put_nowait(Hopped(
                hop.node, hop.name, hop.parent, hop.hops, there_and_back_s, hop.why,
                hop.subscriptions,
            ))  # fmt: skip

    def end_in(self, seconds: float) -> None:
        """End the wait for answers to a `halfway route` after these seconds from now."""
        self._until = self._loop.time() + seconds

    async def until(self, seconds: float) -> AsyncIterator[Hopped]:
        """Yield the answers to a `halfway route` that come within the seconds."""
        self.end_in(seconds)
        with contextlib.suppress(TimeoutError):
            while True:
                async with asyncio.timeout_at(self._until):
                    one = await self._queue.get()
                yield one
