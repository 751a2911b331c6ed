"""The answers to `halfway route`: hops on the way to a node, or of a probe event on a topic."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from halfway.live.control.requests import Hopped, Routed, RouteRequest
from halfway.live.runtime.node import MeshNode
from halfway.live.runtime.routes import HERE, Hop

_MOST_S = 60.0
_SEARCH_S = 1.0  # of a search, before the words are taken as a topic
_QUIET_S = 0.5  # after the node that was searched for has answered


async def route(node: MeshNode, request: RouteRequest) -> AsyncIterator[Hopped | Routed]:
    """Yield each hop when its answer comes, and at the end what was asked for.

    Raises Refusal for a text that is no topic, or for a topic that the node may not publish on.
    """
    is_topic = request.is_topic or "/" in request.to
    seconds = min(max(request.seconds, 0.1), _MOST_S)
    found = False
    if not is_topic:
        async for one in _hops(node, request.to, min(seconds, _SEARCH_S), is_topic=False):
            found = True
            yield one
    if not found:
        is_topic = True
        async for one in _hops(node, request.to, seconds, is_topic=True):
            yield one
    table = node.links.table
    yield Routed(is_topic, node.node_id, len(table.links()), len(table.heard()))


async def _hops(
    node: MeshNode, to: str, seconds: float, *, is_topic: bool
) -> AsyncIterator[Hopped]:
    """Yield the hops of a probe of a topic, or of a search for a node."""
    answers: asyncio.Queue[Hopped] = asyncio.Queue()

    def answered(hop: Hop, there_and_back_s: float) -> None:
        answers.put_nowait(Hopped(
            hop.node, hop.name, hop.parent, hop.hops, there_and_back_s, hop.why, hop.subscriptions
        ))  # fmt: skip

    if is_topic:
        keys = node.probe(to, answered)
    else:
        keys = [node.routes.search(to, node.identity.incarnation, answered)]
        node.links.flush()
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    try:
        with contextlib.suppress(TimeoutError):
            while True:
                async with asyncio.timeout_at(until):
                    one = await answers.get()
                if one.why == HERE and not is_topic:
                    until = min(until, loop.time() + _QUIET_S)
                yield one
    finally:
        for key in keys:
            node.routes.end(key)
