"""MQTT topics and filters [mqtt5 §4.7] in the live runtime: validity, and matching.

Events, the MQTT door, and the patterns of certificates use these functions.
"""

from typing import Generic, TypeVar

MOST_BYTES = 65_535  # of a topic's text in UTF-8
OWN = "$halfway/"  # the topics below it belong to the runtime, and all members may use them
REMEMBERED = 1024  # topics whose entries a tree remembers
_K = TypeVar("_K")
_V = TypeVar("_V")


def topic_problem(topic: str) -> str:
    """Return the error in a topic for publications, or "" for a valid topic."""
    if not topic:
        return "expected at least one character"
    if "\0" in topic or "+" in topic or "#" in topic:
        return "expected a topic without +, # and NUL"
    return _text_problem(topic)


def filter_problem(topic_filter: str) -> str:
    """Return the error in a topic filter, or "" for a valid filter."""
    if not topic_filter:
        return "expected at least one character"
    levels = topic_filter.split("/")
    for place, level in enumerate(levels):
        if "#" in level and (level != "#" or place < len(levels) - 1):
            return "expected # only as the whole last level"
        if "+" in level and level != "+":
            return "expected + only as a whole level"
    return "expected a filter without NUL" if "\0" in topic_filter else _text_problem(topic_filter)


def _text_problem(text: str) -> str:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return "expected text in UTF-8"
    return f"expected at most {MOST_BYTES} bytes" if size > MOST_BYTES else ""


def is_wild(topic_filter: str) -> bool:
    """Return whether a filter may match several topics."""
    return any(level in ("+", "#") for level in topic_filter.split("/"))


def covers(wide: str, narrow: str) -> bool:
    """Return whether a filter matches every topic that another filter matches.

    `a/#` includes `a`, and a wildcard in the first level matches no topic that begins with `$`.
    """
    wanted, levels = wide.split("/"), narrow.split("/")
    if narrow.startswith("$") and wanted[0] in ("#", "+"):
        return False
    for place, level in enumerate(wanted):
        if level == "#":
            return True
        if place == len(levels) or levels[place] == "#" or level not in ("+", levels[place]):
            return False
    return len(wanted) == len(levels)


def matches(topic_filter: str, topic: str) -> bool:
    """Return whether a topic filter matches a topic; a topic is a filter for itself only."""
    return covers(topic_filter, topic)


class _Branch(Generic[_K, _V]):
    """One level of a topic filter: the levels below it, and the entries of filters that end
    here.
    """

    __slots__ = ("below", "entries")

    def __init__(self) -> None:
        self.below: dict[str, _Branch[_K, _V]] = {}
        self.entries: dict[_K, _V] = {}


class FilterTree(Generic[_K, _V]):
    """A map from topic filters to entries, which finds the entries of all filters that match a
    topic.

    An entry is a value under a key; a filter has one entry for each key. A look-up visits at most
    the branches that agree with the topic so far.
    """

    def __init__(self) -> None:
        self._root: _Branch[_K, _V] = _Branch()
        self._found: dict[str, list[tuple[_K, _V]]] = {}  # of the topics asked for last

    def set(self, topic_filter: str, key: _K, value: _V) -> None:
        """Set the entry of a topic filter under a key."""
        self._found.clear()
        branch = self._root
        for level in topic_filter.split("/"):
            branch = branch.below.setdefault(level, _Branch())
        branch.entries[key] = value

    def remove(self, topic_filter: str, key: _K) -> None:
        """Remove the entry of a topic filter under a key; no effect if there is none."""
        self._found.clear()
        path = [self._root]
        levels = topic_filter.split("/")
        for level in levels:
            if level not in path[-1].below:
                return
            path.append(path[-1].below[level])
        path[-1].entries.pop(key, None)
        for above, level, branch in zip(path[-2::-1], levels[::-1], path[:0:-1], strict=True):
            if branch.below or branch.entries:
                return
            del above.below[level]

    def matching(self, topic: str) -> list[tuple[_K, _V]]:
        """Return the entries of all filters that match a topic. The caller only reads the list."""
        found = self._found.get(topic)
        if found is None:
            if len(self._found) >= REMEMBERED:
                self._found.clear()
            found = self._found[topic] = self._matching(topic)
        return found

    def _matching(self, topic: str) -> list[tuple[_K, _V]]:
        entries: list[tuple[_K, _V]] = []
        branches = [self._root]
        wild = not topic.startswith("$")  # a wildcard at the start matches no `$`
        for level in topic.split("/"):
            deeper = []
            for branch in branches:
                below = branch.below
                if wild:
                    if "#" in below:
                        entries += below["#"].entries.items()
                    if "+" in below:
                        deeper.append(below["+"])
                if level in below and level not in {"+", "#"}:
                    deeper.append(below[level])
            branches, wild = deeper, True
        for branch in branches:
            entries += branch.entries.items()
            if "#" in branch.below:  # "sport/#" also matches "sport"
                entries += branch.below["#"].entries.items()
        return entries
