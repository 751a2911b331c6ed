"""The shares of publishers in the events that a busy node takes from a neighbour.

A neighbour of a flooding node repeats the flood, together with the events of all other publishers.
So a node that drops datagrams of this neighbour would lose events of all publishers. Before that,
it drops events of the publishers that send most, at equal limits for each publisher: approximate
fair dropping [Pan, Breslau, Prabhakar and Shenker 2003]. A flood may name a new publisher in each
event. So all publishers that the node has not known for a while share one limit.
"""

from collections.abc import Callable

EPOCH_S = 0.25  # the limits change once in this time
LEAST = 4  # events of a publisher in this time, however busy the node is
BURST = 16  # events of a publisher that may arrive together, after it sent less than its limit
REFUSED = 4096  # events whose records the node drops, because it refused their bodies
_UNKNOWN = -1  # all publishers that are not known share this place
_KNOWN_AFTER_S = 1.0  # between the first event and the second event by which a publisher is known
_SILENT_S = 60.0  # after which another publisher may take the place of a known one
_STALE_S = 10.0  # without events, after which a neighbour has no limit
EventKey = tuple[int, int, int]  # publisher, epoch, number


class Publishers:
    """The publishers that a node knows: their events arrived for a while before the node was busy.

    most: number of known publishers, and of candidates.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[int, float] = {}  # when the last event came
        self._candidates: dict[int, float] = {}  # when the first event came, the oldest first

    def __contains__(self, publisher: int) -> bool:
        return publisher in self._known

    def note(self, publisher: int, now: float) -> None:
        """Note a new event of a publisher."""
        if publisher in self._known:
            self._known[publisher] = now
            return
        first = self._candidates.setdefault(publisher, now)
        if now >= first + _KNOWN_AFTER_S and self._has_capacity(now):
            del self._candidates[publisher]
            self._known[publisher] = now
        elif len(self._candidates) > self._most:
            del self._candidates[next(iter(self._candidates))]

    def _has_capacity(self, now: float) -> bool:
        if len(self._known) < self._most:
            return True
        oldest = min(self._known, key=self._known.__getitem__)
        is_silent = now >= self._known[oldest] + _SILENT_S
        if is_silent:
            del self._known[oldest]
        return is_silent


class _Limit:
    """The limit of each publisher in the events of one busy neighbour: a leaky bucket for each
    publisher. most: events in an epoch.
    """

    def __init__(self, now: float) -> None:
        self.begun, self.most = now, float("inf")
        self._arrived: dict[int, int] = {}  # in this epoch, by publisher
        self._level: dict[int, float] = {}  # of the buckets that are not empty

    def takes(self, publisher: int) -> bool:
        """Count an event of a publisher; return whether there is room for it."""
        self._arrived[publisher] = self._arrived.get(publisher, 0) + 1
        level = self._level.get(publisher, 0.0)
        if level + 1.0 > max(self.most, BURST):
            return False
        self._level[publisher] = level + 1.0
        return True

    def end_epoch(self, now: float, *, is_behind: bool) -> bool:
        """Begin the next epoch; return whether there is still a limit."""
        largest = max(self._arrived.values(), default=0)
        if is_behind:
            self.most = max(min(self.most, largest) / 2, float(LEAST))
        else:
            self.most *= 1.25
        leak = self.most * (now - self.begun) / EPOCH_S
        self.begun = now
        self._arrived.clear()
        leaked = {who: level - leak for who, level in self._level.items()}
        self._level = {who: level for who, level in leaked.items() if level > 0.0}
        return is_behind or self.most <= largest


class EventShares:
    """The shares of publishers at one node. is_behind: a function that returns whether the node
    processes the datagrams of a neighbour more slowly than they arrive.
    """

    def __init__(self, publishers: int, is_behind: Callable[[int], bool]) -> None:
        self._publishers, self._is_behind = Publishers(publishers), is_behind
        self._limits: dict[int, _Limit] = {}  # of the neighbours that the node limits
        self._refused: dict[EventKey, None] = {}  # the oldest first

    def admits(self, peer: int, key: EventKey, now: float) -> bool:
        """Return whether the node takes a new event of a neighbour."""
        limit = self._limits.get(peer)
        if limit is None:
            if not self._is_behind(peer):
                self._publishers.note(key[0], now)
                return True
            self._limits = {
                busy: known for busy, known in self._limits.items() if now < known.begun + _STALE_S
            }
            limit = self._limits[peer] = _Limit(now)
        elif now >= limit.begun + EPOCH_S and not limit.end_epoch(
            now, is_behind=self._is_behind(peer)
        ):
            del self._limits[peer]
        place = key[0] if key[0] in self._publishers else _UNKNOWN
        if limit.takes(place):
            return True
        self._refused[key] = None
        if len(self._refused) > REFUSED:
            del self._refused[next(iter(self._refused))]
        return False

    def has_refused(self, peer: int, key: EventKey) -> bool:
        """Return whether the node drops the records of an event, because it refused the body and
        still limits the neighbour.
        """
        return key in self._refused and peer in self._limits
