"""Timers under keys for the MQTT sessions: one time for each key."""

import heapq
import math
from collections.abc import Hashable
from itertools import count
from typing import Generic, TypeVar

_K = TypeVar("_K", bound=Hashable)
_SPARE = 64  # superseded entries that the heap always may have


class KeyedTimers(Generic[_K]):
    """A heap of keyed timers.

    Setting a key again supersedes its time. The heap has at most about twice as many entries as
    there are keys.
    """

    def __init__(self) -> None:
        self._at: dict[_K, float] = {}
        self._heap: list[tuple[float, int, _K]] = []
        self._numbers = count()

    def set(self, key: _K, at: float) -> None:
        """Set the timer of a key of the MQTT sessions to a time."""
        self._at[key] = at
        heapq.heappush(self._heap, (at, next(self._numbers), key))
        if len(self._heap) > 2 * len(self._at) + _SPARE:
            self._heap = [(at, next(self._numbers), key) for key, at in self._at.items()]
            heapq.heapify(self._heap)

    def cancel(self, key: _K) -> None:
        """Cancel the timer of a key of the MQTT sessions."""
        self._at.pop(key, None)

    def pop_expired(self, now: float) -> _K | None:
        """Take the key whose timer ended first, or None if no keyed timer has ended."""
        while self._heap and self._heap[0][0] <= now:
            at, _, key = heapq.heappop(self._heap)
            if self._at.get(key) == at:
                del self._at[key]
                return key
        return None

    @property
    def next(self) -> float:
        """A time that is not later than the end of the first keyed timer; infinity without a
        timer.
        """
        return self._heap[0][0] if self._at else math.inf
