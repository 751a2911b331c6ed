"""Topics: their text at the edge, 64 bits on the wire, and the numbers of one node inside."""

import hashlib

import numpy as np
import numpy.typing as npt

MOST_BYTES = 65_535  # of a topic's text in UTF-8
EVERYTHING = "#"  # the topic of all events, used while a node wants all topics
_LOW_31 = 2**31 - 1


def topic_problem(topic: str) -> str:
    """Return what is wrong with a topic to publish on; "" for a topic."""
    if not topic:
        return "expected at least one character"
    if "\0" in topic or "+" in topic or "#" in topic:
        return "expected no +, # and NUL"
    return _text_problem(topic)


def filter_problem(topic_filter: str) -> str:
    """Return what is wrong with a filter of topics; "" for a filter."""
    if not topic_filter:
        return "expected at least one character"
    levels = topic_filter.split("/")
    for place, level in enumerate(levels):
        if "#" in level and (level != "#" or place < len(levels) - 1):
            return "expected # as the whole last level only"
        if "+" in level and level != "+":
            return "expected + as a whole level only"
    return "expected no NUL" if "\0" in topic_filter else _text_problem(topic_filter)


def _text_problem(text: str) -> str:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return "expected text in UTF-8"
    return f"expected at most {MOST_BYTES} bytes" if size > MOST_BYTES else ""


def matches(topic_filter: str, topic: str) -> bool:
    """Whether a filter matches a topic, by the rules of MQTT [MQTT 5.0 §4.7]."""
    wanted, given = topic_filter.split("/"), topic.split("/")
    if given[0].startswith("$") and wanted[0] in ("#", "+"):
        return False
    for place, level in enumerate(wanted):
        if level == "#":
            return True
        if place >= len(given) or (level != "+" and level != given[place]):
            return False
    return len(wanted) == len(given)


def is_wild(topic_filter: str) -> bool:
    """Whether a filter may match more than one topic."""
    return any(level in ("+", "#") for level in topic_filter.split("/"))


def hashed(topic: str, key: bytes) -> int:
    """Return the 64 bits of a topic on the wire, under the key of a network."""
    whole = hashlib.blake2b(topic.encode(), digest_size=8, key=key).digest()
    return int.from_bytes(whole, "little")


def short(hash64: int) -> int:
    """Return the 31 bits of a topic in records, for systems in which all nodes number it alike."""
    return hash64 & _LOW_31


class TopicTable:
    """The topics of one node by number, a bounded table. hashes: [topics] 64 bits by number.

    A number is given anew when all are taken: that of the topic which was not used for the longest
    time, if it is not pinned and `keeps` is false. With `keeps`, no number is ever given anew.
    `used` has the tick of the last use of each number; machine code sets it too.
    """

    def __init__(self, room: int, keeps: bool) -> None:
        self.hashes: npt.NDArray[np.uint64] = np.zeros(room, np.uint64)
        self.used: npt.NDArray[np.int64] = np.zeros(room + 1, np.int64)  # the last one: ticks
        self._room, self._keeps = room, keeps
        self._number: dict[int, int] = {}  # by hash
        self._pins: dict[int, int] = {}  # hash -> how many subscriptions hold it
        self.given_anew = 0

    def __len__(self) -> int:
        return len(self._number)

    def number(self, hash64: int) -> int | None:
        """Return the node's number of a topic, a new one if it has none; None if all are taken."""
        number = self._number.get(hash64)
        if number is None:
            number = self._free()
            if number is None:
                return None
            self.hashes[number] = hash64
            self._number[hash64] = number
        self.used[-1] += 1
        self.used[number] = self.used[-1]
        return number

    def known(self, hash64: int) -> bool:
        """Whether a topic has a number now."""
        return hash64 in self._number

    def pin(self, hash64: int) -> None:
        """Keep the number of a topic until `unpin`."""
        self._pins[hash64] = self._pins.get(hash64, 0) + 1

    def unpin(self, hash64: int) -> bool:
        """Undo one `pin`; True if it was the last one of the topic."""
        left = self._pins.get(hash64, 1) - 1
        if left:
            self._pins[hash64] = left
        else:
            self._pins.pop(hash64, None)
        return left == 0

    def _free(self) -> int | None:
        if len(self._number) < self._room:
            return len(self._number)
        if self._keeps:
            return None
        for number in np.argsort(self.used[:-1]).tolist():
            hash64 = int(self.hashes[number])
            if hash64 not in self._pins:
                self.given_anew += 1
                return self._number.pop(hash64)
        return None
