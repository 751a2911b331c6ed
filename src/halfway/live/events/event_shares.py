"""The limits of events that a node takes from a neighbour, so that each publisher has a share.

A neighbour of a flooding node repeats the flood, together with the events of all other publishers.
So a busy node that drops datagrams of this neighbour would lose events of all publishers. Before
that, it drops events of the publishers that send most, at equal limits for each publisher:
approximate fair dropping [Pan, Breslau, Prabhakar and Shenker 2003]. A flood may name a new
publisher in each event. So all publishers that the node has not known for a while share one limit.

One more limit also holds at a node that is not busy: see `NewPublishers`.
"""

from collections.abc import Callable

from halfway.live.drops import Drop
from halfway.live.events.new_publishers import NewPublishers

EPOCH_S = 0.25  # the limits change once in this time
LONG = 0.5  # a queue of this length is long, as a part of an equal share of the bytes
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
        self._known: dict[int, float] = {}  # when the last event came, in this order
        self._candidates: dict[int, float] = {}  # when the first event came, in this order

    def __contains__(self, publisher: int) -> bool:
        return publisher in self._known

    def is_met(self, publisher: int) -> bool:
        """Return whether a publisher is known, or a candidate."""
        return publisher in self._known or publisher in self._candidates

    def refresh(self, publisher: int, now: float) -> bool:
        """Note a new event of a publisher if it is known; return whether it is."""
        is_known = self._known.pop(publisher, None) is not None
        if is_known:
            self._known[publisher] = now
        return is_known

    def note(self, publisher: int, now: float) -> None:
        """Note a new event of a publisher, which is a candidate at its first event."""
        if self.refresh(publisher, now):
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
        oldest = next(iter(self._known))
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
    queue of a neighbour's datagrams, as a part of an equal share. are_proven: whether no program
    can invent a publisher, so that neighbours may name any number of new ones.
    """

    def __init__(
        self, publishers: int, length_of: Callable[[int], float], *, are_proven: bool
    ) -> None:
        self._most, self._length_of = publishers, length_of
        self._publishers = Publishers(publishers)
        self._new = None if are_proven else NewPublishers(publishers)
        self._limits: dict[int, _Limit] = {}  # of neighbours in `_latest`
        self._latest: dict[int, float] = {}  # when a neighbour last sent a new event, in this order
        self._refused: dict[EventKey, dict[int, Drop]] = {}  # why, by neighbour; the oldest first

    def refusal(self, peer: int, key: EventKey, now: float) -> Drop | None:
        """Return why the node refuses a new event of a neighbour, or None. The caller calls `take`
        if it then takes the event.
        """
        publisher = key[0]
        new, is_met = self._new, self._publishers.is_met(publisher)
        if new is not None and not is_met and not new.admits(peer, publisher, now):
            return self._refuse(peer, key, Drop.NEW_PUBLISHER)
        self._note_neighbour(peer, now)
        limit = self._limits.get(peer)
        if limit is None:
            if self._length_of(peer) < LONG:
                return None
            limit = self._limits[peer] = _Limit(now, self._length_of(peer))
        elif now >= limit.begun + EPOCH_S and not self._is_still_limited(peer, limit, now):
            del self._limits[peer]
        if limit.takes(publisher if publisher in self._publishers else _UNKNOWN):
            return None
        return self._refuse(peer, key, Drop.PUBLISHER)

    def take(self, peer: int, key: EventKey, now: float) -> None:
        """Note that the node took a new event of a neighbour."""
        self._refused.pop(key, None)
        if peer in self._limits:  # an unknown publisher that begins now stays unknown
            self._publishers.refresh(key[0], now)
        else:
            self._publishers.note(key[0], now)

    def refusal_before(self, peer: int, key: EventKey) -> Drop | None:
        """Return why the node refused the body of an event from a neighbour, whose records it then
        drops. None: it did not, or it took the body since.
        """
        return self._refused.get(key, {}).get(peer)

    def _refuse(self, peer: int, key: EventKey, why: Drop) -> Drop:
        self._refused.setdefault(key, {})[peer] = why
        if len(self._refused) > REFUSED:
            del self._refused[next(iter(self._refused))]
        return why

    def _note_neighbour(self, peer: int, now: float) -> None:
        """Note an event of a neighbour, and forget neighbours from which no event came lately."""
        latest = self._latest
        latest.pop(peer, None)
        latest[peer] = now
        while now >= latest[oldest := next(iter(latest))] + _STALE_S or len(latest) > self._most:
            del latest[oldest]
            self._limits.pop(oldest, None)

    def _is_still_limited(self, peer: int, limit: _Limit, now: float) -> bool:
        has_others = any(who != peer and now < at + _ACTIVE_S for who, at in self._latest.items())
        return limit.end_epoch(now, self._length_of(peer), has_others=has_others)
