"""The Python interface of a live node: `halfway.live.node` for programs with an event loop,
`blocking_node` for others.

>>> import asyncio, halfway.live
>>> async def main():
...     async with halfway.live.node(nodes=2, compile="never") as one:
...         events = one.subscribe("sensors/#")
...         await one.publish("sensors/kitchen", b"21.5")
...         async for event in events:
...             return event.topic, event.payload
>>> asyncio.run(main())
('sensors/kitchen', b'21.5')
"""

import asyncio
import queue
from collections.abc import Callable, Mapping
from typing import Any

from halfway.core.options import Value
from halfway.live.dropping_queue import ThreadQueue
from halfway.live.interface.background import BackgroundHost
from halfway.live.interface.queues import Events, MemberChanges, members_of
from halfway.live.members import KnownMember
from halfway.live.mesh import Event, Level
from halfway.live.runtime.host import Host
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.runtime.settings import Settings
from halfway.live.runtime.status import status_of

_POLL_S = 0.02


def node(
    system: str = "flooding", *, options: Mapping[str, Value] | None = None, **settings: Any
) -> "LiveNode":
    """Return a live node for `async with`. settings: fields of `Settings`, such as `nodes=20`.

    Raises Problem for a system that does not run live, and for a value out of range.
    """
    return LiveNode(Settings(system=system, options=options or {}, **settings))


def blocking_node(
    system: str = "flooding", *, options: Mapping[str, Value] | None = None, **settings: Any
) -> "BlockingNode":
    """Return a live node for `with`, which runs in its own thread; the settings are as for
    `node`.
    """
    return BlockingNode(Settings(system=system, options=options or {}, **settings))


class LiveNode:
    """A live node for `async with`, the first node of its process."""

    def __init__(self, settings: Settings) -> None:
        self.host = Host(settings)

    async def __aenter__(self) -> "LiveNode":
        """Start the node of the Python interface. Raises Problem, for instance for a port that is
        in use.
        """
        await self.host.__aenter__()
        self.host.start_kept_events()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.host.close()

    @property
    def mesh(self) -> MeshNode:
        """The node of the live runtime behind this Python interface."""
        return self.host.nodes[0]

    async def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        level: Level | str = Level.BEST_EFFORT,
        retain: bool = False,
        expiry_s: float = float("inf"),
    ) -> None:
        """Publish an event from a Python program at the live node; wait while there is no room.
        Raises Refusal.
        """
        await self.mesh.publish(
            topic, payload, level=Level(level), retain=retain, expiry_s=expiry_s
        )

    def try_publish(
        self,
        topic: str,
        payload: bytes,
        *,
        level: Level | str = Level.BEST_EFFORT,
        retain: bool = False,
        expiry_s: float = float("inf"),
    ) -> bool:
        """Publish an event from a Python program at the live node; return False, without effect, if
        there is no room. Raises Refusal.
        """
        return self.mesh.try_publish(
            topic, payload, level=Level(level), retain=retain, expiry_s=expiry_s
        )

    def subscribe(self, topic_filter: str) -> Events:
        """Subscribe a Python program to a filter at the live node, from now on. Raises Refusal."""
        return Events(self.mesh, topic_filter)

    def retained(self, topic_filter: str) -> list[Event]:
        """Return the live node's retained values that match a filter."""
        return self.mesh.retained(topic_filter)

    def members(self) -> list[KnownMember]:
        """Return the members that the live node knows to a Python program, in ascending order of
        ids. Raises Problem unless the node's system is a failure detector.
        """
        return members_of(self.mesh).all()

    def member_changes(self) -> MemberChanges:
        """Return the changes of members at the live node to a Python program, from now on. Raises
        Problem unless the node's system is a failure detector.
        """
        return MemberChanges(self.mesh)

    async def neighbours(self, least: int = 1, timeout_s: float = 10.0) -> list[str]:
        """Let a Python program wait until the live node has `least` neighbours; return all names.
        Raises TimeoutError.
        """
        table = self.mesh.links.table
        async with asyncio.timeout(timeout_s):
            while len(table.neighbours()) < least:
                await asyncio.sleep(_POLL_S)
        return [table.heard()[peer].hello.name for peer in table.neighbours()]

    def move(self, x: float, y: float) -> None:
        """Let a Python program move the live node to a position in metres, if its system has
        positions. Raises Problem.
        """
        self.host.move(self.mesh, (x, y))

    def status(self) -> dict[str, Any]:
        """Return the status of the live node to a Python program, as `halfway status --json` prints
        it.
        """
        return status_of(self.host, self.mesh)


class BlockingNode:
    """A live node in its own thread, for programs without an event loop. Use it with `with`."""

    def __init__(self, settings: Settings) -> None:
        self._background = BackgroundHost(settings)

    def __enter__(self) -> "BlockingNode":
        """Start a Python program's blocking node. Raises Problem, for instance for a port that is
        in use.
        """
        self._background.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._background.__exit__()

    @property
    def _node(self) -> MeshNode:
        return self._background.host.nodes[0]

    def publish(
        self, topic: str, payload: bytes, *, retain: bool = False, expiry_s: float = float("inf")
    ) -> None:
        """Publish an event from a Python program at its blocking node; wait while there is no room.
        Raises Refusal.
        """
        self._background.wait_for(
            self._node.publish(topic, payload, retain=retain, expiry_s=expiry_s)
        )

    def subscribe(
        self, topic_filter: str, callback: Callable[[Event], None] | None = None
    ) -> "queue.Queue[Event]":
        """Subscribe a Python program's blocking node to a filter; return a bounded queue of the
        events, which drops its oldest.

        callback: is called with each event instead, in the thread of the node. Raises Refusal.
        """
        of = self._node
        events = ThreadQueue[Event](of.drops)
        self._background.call(lambda: of.subscribe(topic_filter, callback or events.take))
        return events

    def retained(self, topic_filter: str) -> list[Event]:
        """Return the retained values at the blocking node that match a filter."""
        return self._background.call(lambda: self._node.retained(topic_filter))

    def members(self) -> list[KnownMember]:
        """Return the members that a Python program's blocking node knows. Raises Problem unless its
        system is a failure detector.
        """
        return self._background.call(lambda: members_of(self._node).all())

    def member_changes(
        self, callback: Callable[[KnownMember], None] | None = None
    ) -> "queue.Queue[KnownMember]":
        """Return a bounded queue of the changes of members at a Python program's blocking node,
        from now on, which drops its oldest.

        callback: is called with each change instead, in the thread of the node. Raises Problem.
        """
        changes = ThreadQueue[KnownMember](self._node.drops)
        self._background.call(lambda: members_of(self._node).follow(callback or changes.take))
        return changes

    def status(self) -> dict[str, Any]:
        """Return the status of a Python program's blocking node, as `halfway status --json` prints
        it.
        """
        return self._background.call(lambda: status_of(self._background.host, self._node))
