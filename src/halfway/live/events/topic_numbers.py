"""The topic numbers of a live node: 64-bit hashes on the wire become small numbers in its
records.
"""

import hashlib
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

EVERYTHING = "#"  # the topic of all events, used while a node wants all topics
_LOW_31 = 2**31 - 1


def hashed(topic: str, key: bytes) -> int:
    """Return the 64-bit hash of a topic on the wire, keyed by the network."""
    whole = hashlib.blake2b(topic.encode(), digest_size=8, key=key).digest()
    return int.from_bytes(whole, "little")


def short(hash64: int) -> int:
    """Return the topic number of 31 bits in records, for systems whose nodes must agree on the
    number of a topic.
    """
    return hash64 & _LOW_31


class TopicTable:
    """The topic numbers of one node, a bounded table. hashes: [topics] the 64-bit hash by number.

    When all numbers are taken, a new topic takes the number of the unpinned topic that was unused
    for the longest time. With `keeps`, no number is reused. `used` has the tick of the last use of
    each number; machine code sets it too. A caller may give the array `hashes`, which others read.
    """

    def __init__(
        self, capacity: int, keeps: bool, hashes: npt.NDArray[np.uint64] | None = None
    ) -> None:
        self.hashes = np.zeros(capacity, np.uint64) if hashes is None else hashes
        self._is_read = hashes is not None
        self.used: npt.NDArray[np.int64] = np.zeros(capacity + 1, np.int64)  # the last one: ticks
        self._capacity, self._keeps = capacity, keeps
        self._number: dict[int, int] = {}  # by hash
        self._pins: dict[int, int] = {}  # hash -> number of subscriptions that pin the topic
        self.given_anew = 0
        # A callback for the hash and the number of a topic, before another topic takes the number.
        self.before_reuse: Callable[[int, int], None] = lambda _, __: None
        self.before_new: Callable[[], None] = lambda: None  # before `hashes` has a new topic
        # A callback for the number and the hash of a new topic.
        self.after_new: Callable[[int, int], None] = lambda _, __: None

    def __len__(self) -> int:
        return len(self._number)

    def number(self, hash64: int) -> int | None:
        """Return the number of a topic; a new topic gets a number, or None if the table is full."""
        number = self._number.get(hash64)
        if number is None:
            number = self._free()
            if number is None:
                return None
            if self._is_read:
                self.before_new()
            self.hashes[number] = hash64
            self._number[hash64] = number
            self.after_new(number, hash64)
        self._use(number)
        return number

    def known(self, hash64: int) -> bool:
        """Return whether a topic has a number."""
        return hash64 in self._number

    def pin(self, hash64: int) -> None:
        """Keep a topic's number from reuse until `unpin`."""
        self._pins[hash64] = self._pins.get(hash64, 0) + 1

    def unpin(self, hash64: int) -> bool:
        """Undo one `pin` of a topic's number; return True if this pin was the last one."""
        left = self._pins.get(hash64, 1) - 1
        if left:
            self._pins[hash64] = left
        else:
            self._pins.pop(hash64, None)
        return left == 0

    def _free(self) -> int | None:
        if len(self._number) < self._capacity:
            return len(self._number)
        if self._keeps:
            return None
        for _ in range(self._capacity):
            number = int(np.argmin(self.used[:-1]))
            hash64 = int(self.hashes[number])
            if hash64 not in self._pins:
                self.given_anew += 1
                self.before_reuse(hash64, self._number[hash64])
                return self._number.pop(hash64)
            self._use(number)  # so that no search meets this topic again soon
        return None

    def _use(self, number: int) -> None:
        self.used[-1] += 1
        self.used[number] = self.used[-1]
