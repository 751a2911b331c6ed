"""Topics and filters of MQTT [mqtt5 §4.7]: their form, and which filter matches which topic."""

from typing import Generic, TypeVar

LEVELS_MAXIMUM = 128  # of a topic or filter; deeper ones are refused
SHARE = "$share/"
_REMEMBERED = 1024  # topics whose entries a tree remembers
_K = TypeVar("_K")
_V = TypeVar("_V")


def is_topic(topic: str) -> bool:
    """Whether a text may be the topic of a message."""
    return (
        topic != "" and "+" not in topic and "#" not in topic and topic.count("/") < LEVELS_MAXIMUM
    )


def is_filter(topic_filter: str) -> bool:
    """Whether a text may be a topic filter: `+` is a whole level, `#` is the whole last level."""
    if topic_filter == "" or topic_filter.count("/") >= LEVELS_MAXIMUM:
        return False
    levels = topic_filter.split("/")
    return all(
        level == "+" or (level == "#" and k == len(levels) - 1) or not set(level) & {"+", "#"}
        for k, level in enumerate(levels)
    )


def shared(topic_filter: str) -> tuple[str, str] | None:
    """Return the share name and the filter of a shared subscription [mqtt5 §4.8.2]; else None.

    Either may be in a form that `is_share_name` or `is_filter` refuses.
    """
    if not topic_filter.startswith(SHARE):
        return None
    name, _, inner = topic_filter[len(SHARE) :].partition("/")
    return name, inner


def is_share_name(name: str) -> bool:
    """Whether a text may be the name of a share."""
    return name != "" and not set(name) & {"+", "#", "/"}


def matches(topic_filter: str, topic: str) -> bool:
    """Whether a filter matches a topic. A wildcard at the start matches no topic with `$`."""
    if topic.startswith("$") and topic_filter[:1] in {"+", "#"}:
        return False
    wanted, levels = topic_filter.split("/"), topic.split("/")
    for k, level in enumerate(wanted):
        if level == "#":
            return True
        if k == len(levels) or level not in ("+", levels[k]):
            return False
    return len(wanted) == len(levels)


def covers(wide: str, narrow: str) -> bool:
    """Whether a filter matches every topic that another filter matches."""
    if narrow.startswith("$") and wide[:1] in {"+", "#"}:
        return False
    wanted, levels = wide.split("/"), narrow.split("/")
    for k, level in enumerate(wanted):
        if level == "#":
            return True
        if k == len(levels) or levels[k] == "#" or level not in ("+", levels[k]):
            return False
    return len(wanted) == len(levels)


class _Branch(Generic[_K, _V]):
    """One level of a filter: the levels below it, and the entries of filters that end here."""

    __slots__ = ("below", "entries")

    def __init__(self) -> None:
        self.below: dict[str, _Branch[_K, _V]] = {}
        self.entries: dict[_K, _V] = {}


class FilterTree(Generic[_K, _V]):
    """A map from filters to entries, which finds the entries of all filters that match a topic.

    An entry is a value under a key; a filter has one entry for each key. A look-up visits at most
    the branches that agree with the topic so far.
    """

    def __init__(self) -> None:
        self._root: _Branch[_K, _V] = _Branch()
        self._found: dict[str, list[tuple[_K, _V]]] = {}  # of the topics asked for last

    def set(self, topic_filter: str, key: _K, value: _V) -> None:
        """Set the entry of a filter under a key."""
        self._found.clear()
        branch = self._root
        for level in topic_filter.split("/"):
            branch = branch.below.setdefault(level, _Branch())
        branch.entries[key] = value

    def remove(self, topic_filter: str, key: _K) -> None:
        """Remove the entry of a filter under a key; no effect if there is none."""
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
        """Return the entries of all filters that match a topic. The list is not the caller's."""
        found = self._found.get(topic)
        if found is None:
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            found = self._found[topic] = self._matching(topic)
        return found

    def _matching(self, topic: str) -> list[tuple[_K, _V]]:
        found: list[tuple[_K, _V]] = []
        branches = [self._root]
        wild = not topic.startswith("$")  # a wildcard at the start matches no `$`
        for level in topic.split("/"):
            deeper = []
            for branch in branches:
                below = branch.below
                if wild:
                    if "#" in below:
                        found += below["#"].entries.items()
                    if "+" in below:
                        deeper.append(below["+"])
                if level in below and level not in {"+", "#"}:
                    deeper.append(below[level])
            branches, wild = deeper, True
        for branch in branches:
            found += branch.entries.items()
            if "#" in branch.below:  # "sport/#" also matches "sport"
                found += branch.below["#"].entries.items()
        return found
