"""The bounded queues between a live node and one reader, which lose their oldest item."""

import asyncio
import queue
from contextlib import suppress
from typing import Generic, TypeVar

from halfway.live.drops import Drop, Drops

MOST_WAITING = 1024  # items of one queue
T = TypeVar("T")


class DroppingQueue(Generic[T]):
    """A bounded queue of one reader in the event loop of the node: `async for item in …`.

    A reader that does not keep up loses the oldest items, and `drops` of the node counts them.
    """

    def __init__(self, drops: Drops) -> None:
        self._drops = drops
        self._items: asyncio.Queue[T | None] = asyncio.Queue()  # None: the end
        self._has_ended = False

    def __aiter__(self) -> "DroppingQueue[T]":
        return self

    async def __anext__(self) -> T:
        """Wait for the next item of a dropping queue; after `finish`, take what still waits."""
        item = await self._items.get()
        if item is None:
            self._items.put_nowait(None)
            raise StopAsyncIteration
        return item

    def take(self, item: T) -> None:
        """Put an item into a dropping queue, which loses its oldest item if it is full."""
        if self._items.qsize() >= MOST_WAITING:
            self._items.get_nowait()
            self._drops.count(Drop.SLOW_SUBSCRIBER)
        self._items.put_nowait(item)

    def finish(self) -> None:
        """Finish a dropping queue, which takes no further item. A second call has no effect."""
        if not self._has_ended:
            self._has_ended = True
            self._items.put_nowait(None)


class ThreadQueue(queue.Queue[T]):
    """A bounded queue of one reader in another thread than the event loop of the node.

    A reader that does not keep up loses the oldest items, and `drops` of the node counts them.
    """

    def __init__(self, drops: Drops) -> None:
        super().__init__(MOST_WAITING)
        self._drops = drops

    def take(self, item: T) -> None:
        """Put an item into a queue for another thread, which loses its oldest item if it is
        full.
        """
        if self.full():
            with suppress(queue.Empty):  # the reader may take an item meanwhile
                self.get_nowait()
                self._drops.count(Drop.SLOW_SUBSCRIBER)
        self.put_nowait(item)
