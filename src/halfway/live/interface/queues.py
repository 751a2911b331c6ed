"""The bounded queues of the Python interface: events of a subscription, and changes of members."""

import asyncio
import queue
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from halfway.live.drops import Drop
from halfway.live.members import KnownMember, Members
from halfway.live.mesh import Event, MeshSubscription
from halfway.live.runtime.mesh_node import MeshNode
from halfway.problem import Problem

QUEUE = 1024  # events that wait for a subscriber of the Python interface, or changes of members
T = TypeVar("T")


class Events:
    """The bounded queue of one subscription's events: `async for event in …`.

    A program that does not keep up loses the oldest events; the node counts them.
    """

    def __init__(self, of: MeshNode, topic_filter: str) -> None:
        self._node, self.filter = of, topic_filter
        self._queue: asyncio.Queue[Event] = asyncio.Queue(QUEUE)
        self._subscription: MeshSubscription | None = of.subscribe(topic_filter, self._take)

    def __aiter__(self) -> "Events":
        return self

    async def __anext__(self) -> Event:
        """Wait for the next event of a subscription from Python."""
        if self._subscription is None and self._queue.empty():
            raise StopAsyncIteration
        return await self._queue.get()

    def end(self) -> None:
        """End the subscription; the program can still read events of the Python interface that have
        arrived.
        """
        if self._subscription is not None:
            self._node.unsubscribe(self._subscription)
            self._subscription = None

    def _take(self, event: Event) -> None:
        if self._queue.full():
            self._queue.get_nowait()
            self._node.drops.count(Drop.SLOW_SUBSCRIBER)
        self._queue.put_nowait(event)


class MemberChanges:
    """The bounded queue of the changes of members at a node: `async for member in …`.

    A program that does not keep up loses the oldest changes; the node counts them.
    """

    def __init__(self, of: MeshNode) -> None:
        self._node, self._members = of, members_of(of)
        self._queue: asyncio.Queue[KnownMember] = asyncio.Queue(QUEUE)
        self._members.follow(self._take)
        self._has_ended = False

    def __aiter__(self) -> "MemberChanges":
        return self

    async def __anext__(self) -> KnownMember:
        """Wait for the next change of a member from Python."""
        if self._has_ended and self._queue.empty():
            raise StopAsyncIteration
        return await self._queue.get()

    def end(self) -> None:
        """End the changes; the program can still read changes of the Python interface that have
        happened.
        """
        self._members.unfollow(self._take)
        self._has_ended = True

    def _take(self, member: KnownMember) -> None:
        if self._queue.full():
            self._queue.get_nowait()
            self._node.drops.count(Drop.SLOW_SUBSCRIBER)
        self._queue.put_nowait(member)


def members_of(of: MeshNode) -> Members:
    """Return the members of a node. Raises Problem if its system has none."""
    if of.members is None:
        what = f"system = {of.identity.system}: expected a failure detector"
        raise Problem(
            f"{what}, because other systems have no members", remedy='use halfway.live.node("swim")'
        )
    return of.members


def dropping_queue(of: MeshNode, _item: type[T]) -> "tuple[queue.Queue[T], Callable[[T], None]]":
    """Return a bounded queue for a program without an event loop, and the function that puts an
    item into it; if the queue is full, the oldest item is lost, and the node counts it.
    """
    items: queue.Queue[T] = queue.Queue(QUEUE)

    def take(item: T) -> None:
        if items.full():
            with suppress(queue.Empty):
                items.get_nowait()
                of.drops.count(Drop.SLOW_SUBSCRIBER)
        items.put_nowait(item)

    return items, take
