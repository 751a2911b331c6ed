"""The shares of publishers in the events that a busy node takes from a neighbour.

A neighbour of a flooding node repeats the flood, together with the events of all other publishers.
So a node that drops datagrams of this neighbour would lose events of all publishers. Before that,
it drops events of the publishers that send most, at equal limits for each publisher: approximate
fair dropping [Pan, Breslau, Prabhakar and Shenker 2003]. A flood may name a new publisher in each
event. So all publishers that the node has not known for a while share one limit.
"""

from collections.abc import Callable

EPOCH_S = 0.25  # the limits change once in this time
LONG = 0.5  # a queue of this length is long, as a part of an equal share of the bytes
MET_S = 16.0  # in which a neighbour may name as many new publishers as the node remembers
LEAST = 4  # events of a publisher in this time, however busy the node is
BURST = 16  # events of a publisher that may arrive together, after it sent less than its limit
REFUSED = 4096  # events whose records the node drops, because it refused their bodies
_UNKNOWN = -1  # all publishers that are not known share this place
_KNOWN_AFTER_S = 1.0  # between the first event and the second event by which a publisher is known
_SILENT_S = 60.0  # after which another publisher may take the place of a known one
_SHRINKS = 0.9  # a queue that shrinks by a tenth in an epoch will be short, without a lower limit
_ACTIVE_S = 1.0  # since a new event of an active neighbour
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

    def is_met(self, publisher: int) -> bool:
        """Return whether a publisher is known, or a candidate."""
        return publisher in self._known or publisher in self._candidates

    def meet(self, publisher: int, now: float) -> None:
        """Make a new publisher a candidate."""
        self._candidates[publisher] = now
        if len(self._candidates) > self._most:
            del self._candidates[next(iter(self._candidates))]

    def note(self, publisher: int, now: float) -> None:
        """Note a new event of a publisher."""
        if publisher in self._known:
            self._known[publisher] = now
            return
        if publisher not in self._candidates:
            self.meet(publisher, now)
        first = self._candidates[publisher]
        if now >= first + _KNOWN_AFTER_S and self._has_capacity(now):
            del self._candidates[publisher]
            self._known[publisher] = now

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
    publisher. most: events in an epoch. length: of the neighbour's queue at the begin of the epoch.
    """

    def __init__(self, now: float, length: float) -> None:
        self.begun, self._length, self._most = now, length, float("inf")
        self._arrived: dict[int, int] = {}  # in this epoch, by publisher
        self._level: dict[int, float] = {}  # of the buckets that are not empty

    def takes(self, publisher: int) -> bool:
        """Count an event of a publisher; return whether there is room for it."""
        self._arrived[publisher] = self._arrived.get(publisher, 0) + 1
        level = self._level.get(publisher, 0.0)
        if level + 1.0 > max(self._most, BURST):
            return False
        self._level[publisher] = level + 1.0
        return True

    def end_epoch(self, now: float, length: float, *, has_others: bool) -> bool:
        """Begin the next epoch; return whether there is still a limit.

        has_others: whether events arrived from other neighbours. An only publisher has no limit.
        """
        largest = max(self._arrived.values(), default=0)
        is_long = length >= LONG
        if is_long and length > _SHRINKS * self._length and (has_others or len(self._arrived) > 1):
            self._most = max(min(self._most, largest) / 2, float(LEAST))
        elif not is_long:
            self._most *= 1.25
        leak = self._most * (now - self.begun) / EPOCH_S
        self.begun, self._length = now, length
        self._arrived.clear()
        leaked = {who: level - leak for who, level in self._level.items()}
        self._level = {who: level for who, level in leaked.items() if level > 0.0}
        return is_long or self._most <= largest


class EventShares:
    """The shares of publishers at one node. length_of: a function that returns the length of the
    queue of a neighbour's datagrams, as a part of an equal share.
    """

    def __init__(self, publishers: int, length_of: Callable[[int], float]) -> None:
        self._publishers, self._length_of = Publishers(publishers), length_of
        self._limits: dict[int, _Limit] = {}  # of the neighbours that the node limits
        self._latest: dict[int, float] = {}  # when a neighbour last sent a new event
        self._refused: dict[EventKey, int] = {}  # by which neighbour, the oldest first
        self._most_met = publishers
        self._met: dict[int, tuple[float, float]] = {}  # new publishers of a neighbour, and when

    def admits(self, peer: int, key: EventKey, now: float) -> bool:
        """Return whether the node takes a new event of a neighbour."""
        if not self._publishers.is_met(key[0]):
            if not self._meets(peer, now):
                return self._refuse(peer, key)
            self._publishers.meet(key[0], now)
        self._latest[peer] = now
        limit = self._limits.get(peer)
        if limit is None:
            if self._length_of(peer) < LONG:
                self._publishers.note(key[0], now)
                return True
            limit = self._begin(peer, now)
        elif now >= limit.begun + EPOCH_S and not self._is_still_limited(peer, limit, now):
            del self._limits[peer]
        if limit.takes(key[0] if key[0] in self._publishers else _UNKNOWN):
            return True
        return self._refuse(peer, key)

    def has_refused(self, peer: int, key: EventKey) -> bool:
        """Return whether the node drops a neighbour's records of an event, because it refused the
        body from this neighbour.
        """
        return self._refused.get(key) == peer

    def _refuse(self, peer: int, key: EventKey) -> bool:
        self._refused[key] = peer
        if len(self._refused) > REFUSED:
            del self._refused[next(iter(self._refused))]
        return False

    def _meets(self, peer: int, now: float) -> bool:
        """Return whether a neighbour may name one more new publisher: at first as many as the node
        remembers, and later few enough for the filter of duplicates to remember the others.
        """
        level, at = self._met.get(peer, (0.0, now))
        level = max(level - (now - at) * self._most_met / MET_S, 0.0)
        if level + 1.0 > self._most_met:
            return False
        self._met.pop(peer, None)
        if len(self._met) >= self._most_met:
            del self._met[next(iter(self._met))]
        self._met[peer] = level + 1.0, now
        return True

    def _begin(self, peer: int, now: float) -> _Limit:
        """Begin to limit a neighbour, and forget the neighbours from which no event came lately."""
        latest = self._latest
        self._latest = {who: at for who, at in latest.items() if now < at + _STALE_S}
        self._limits = {who: one for who, one in self._limits.items() if who in self._latest}
        limit = self._limits[peer] = _Limit(now, self._length_of(peer))
        return limit

    def _is_still_limited(self, peer: int, limit: _Limit, now: float) -> bool:
        has_others = any(who != peer and now < at + _ACTIVE_S for who, at in self._latest.items())
        return limit.end_epoch(now, self._length_of(peer), has_others=has_others)
