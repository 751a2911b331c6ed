"""The limit of new publishers that each neighbour of a node names, where anybody can invent them.

Without this limit, invented publishers take the places of the others in the filter of duplicates.
Then nodes accept the same events of the others again and again. The limit is lenient to publishers
that exist: the node remembers the names that it refused, and takes their next events.
"""

MET_S = 16.0  # in which a neighbour may name as many new publishers as the node remembers
NAMES = 4096  # that neighbours named and that the node remembers, refused ones as well


class NewPublishers:
    """The new publishers that neighbours of one node name. most: number at once, of each neighbour;
    also the most neighbours.
    """

    def __init__(self, most: int) -> None:
        self._most, self._count = most, 0
        self._levels: dict[int, tuple[float, float]] = {}  # new ones of a neighbour, and when
        self._names: dict[int, dict[int, None]] = {}  # of a neighbour, in the order of last use

    def admits(self, peer: int, publisher: int, now: float) -> bool:
        """Return whether a neighbour may name a publisher that the node does not know: again, or as
        one more new publisher.
        """
        if self._is_remembered(peer, publisher):
            return True
        level, at = self._levels.pop(peer, (0.0, now))
        level = max(level - (now - at) * self._most / MET_S, 0.0)
        has_capacity = level + 1.0 <= self._most
        if len(self._levels) >= self._most:
            del self._levels[next(iter(self._levels))]
        self._levels[peer] = level + has_capacity, now
        return has_capacity

    def _is_remembered(self, peer: int, publisher: int) -> bool:
        """Remember that a neighbour named a publisher; return whether it did so before."""
        names = self._names.setdefault(peer, {})
        is_remembered = publisher in names
        names.pop(publisher, None)
        names[publisher] = None
        self._count += not is_remembered
        if self._count > NAMES:
            longest = max(self._names, key=lambda neighbour: len(self._names[neighbour]))
            del self._names[longest][next(iter(self._names[longest]))]
            self._count -= 1
            if not self._names[longest]:
                del self._names[longest]
        return is_remembered
