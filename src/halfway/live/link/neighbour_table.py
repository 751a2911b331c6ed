"""The neighbour table of a live node, which hellos fill; a neighbour is a node with a link in both
directions.

The rule is that of simulated hellos, `core.hello.link`: a node becomes a neighbour when 3 of its
last 4 hellos arrived and its own hello lists this node. A node stays a neighbour until 5 of its
periods pass without a hello, until it sends LEAVE, until its hello does not list this node, or
until fewer than 4 tenths of its last 16 hellos arrived. With a hello of a later incarnation, the
count begins again.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from halfway.core.hello.link import APPEARS, HISTORY, LEAST_TENTHS, MISSED, NEWEST
from halfway.core.neighbourhood import Neighbourhood
from halfway.live.wire.frames import NOT_WANTED, Hello

_MOST_PERIOD_S = 60.0
# The reasons why a heard node is not a neighbour.
ONE_WAY = "the other node does not hear this node"
NEW = "this node has heard too few hellos of the other node so far"
LOSSY = "too few hellos of the other node arrive"
OTHER_RULES = "the other node has another system, or other options"
FULL = "this node has no room for more neighbours (limit `neighbours`)"
NEIGHBOUR = "neighbour"


class Heard(NamedTuple):
    """A node in the neighbour table: its last hello, and the history of hellos."""

    hello: Hello
    since: float  # seconds, by this node's clock
    last: float
    arrived: int  # bit k: the hello k numbers before the last one arrived
    is_link: bool
    first: int  # number of the first hello that arrived

    def share(self) -> float:
        """Return the share of the last 16 hellos at most that arrived from a node in the neighbour
        table.
        """
        sent = min(self.hello.number - self.first + 1, HISTORY)
        return min(self.arrived.bit_count() / sent, 1.0)


class HelloTable:
    """The bounded neighbour table of one live node, filled by whole hellos.

    rules: 64 bits that are equal on all nodes with the same system and options. capacity: most
    neighbours. most_heard: most nodes that are heard. position: the node's own, if it needs one.
    """

    def __init__(
        self,
        node_id: int,
        rules: int,
        capacity: int,
        most_heard: int,
        position: tuple[float, float] | None = None,
    ) -> None:
        self._node_id, self._rules = node_id, rules
        self._capacity, self._most_heard = capacity, most_heard
        self._heard: dict[int, Heard] = {}
        self._links: list[int] = []
        self._lists: list[list[int]] = []  # that they reported
        self.not_heard = 0  # hellos of nodes for which there was no room
        lists = capacity + 1
        x, y = np.full((2, 0 if position is None else lists), np.nan)  # neighbours report none
        if position is not None:
            x[0], y[0] = position
        first = np.arange(lists, dtype=np.uint32) * np.uint32(capacity)
        self.neighbourhood = Neighbourhood(
            first=first,
            last=first.copy(),
            who=np.full(lists * capacity, -1, np.int32),
            place=np.full(lists * capacity, -1, np.int32),
            x=x,
            y=y,
        )
        # Called before and after the lists are written.
        self.before_change: Callable[[], None] = lambda: None
        self.after_change: Callable[[], None] = lambda: None

    @property
    def position(self) -> tuple[float, float] | None:
        """The position of the neighbour table's own node in metres, if the node needs one."""
        around = self.neighbourhood
        return (float(around.x[0]), float(around.y[0])) if len(around.x) else None

    def move(self, x: float, y: float) -> None:
        """Move the neighbour table's own node, which has a position, to another one."""
        self.before_change()
        self.neighbourhood.x[0], self.neighbourhood.y[0] = x, y

    def enter_hello(self, node_id: int, hello: Hello, now: float) -> bool:
        """Enter a hello into the neighbour table; return True if the node's incarnation is new."""
        known = self._heard.get(node_id)
        if known is not None and hello.incarnation < known.hello.incarnation:
            return False  # a late hello of an earlier incarnation
        if known is None and len(self._heard) >= self._most_heard:
            self.not_heard += 1
            return False
        is_new = known is None or hello.incarnation > known.hello.incarnation
        if known is None or is_new:
            self._heard[node_id] = Heard(hello, now, now, 1, is_link=False, first=hello.number)
        else:
            ahead = hello.number - known.hello.number
            if ahead <= 0:
                return False
            arrived = (known.arrived << ahead | 1) & (2**HISTORY - 1) if ahead < HISTORY else 1
            self._heard[node_id] = known._replace(hello=hello, last=now, arrived=arrived)
        self._decide(node_id)
        decided = self._heard[node_id]
        was_link, lists = (known.is_link, known.hello.links) if known else (False, ())
        if decided.is_link != was_link or (was_link and hello.links != lists):
            self._update()
        return is_new

    def leave(self, node_id: int) -> None:
        """Remove a node that sent LEAVE from the neighbour table."""
        if self._heard.pop(node_id, None) is not None:
            self._update()

    def expire(self, now: float) -> None:
        """Remove nodes from the neighbour table from which no hello arrived for five of their
        periods.
        """
        late = [
            node_id
            for node_id, link in self._heard.items()
            if now - link.last > MISSED * min(link.hello.period_ms / 1000.0, _MOST_PERIOD_S)
        ]
        for node_id in late:
            del self._heard[node_id]
        if late:
            self._update()

    def neighbours(self) -> list[int]:
        """Return the ids of the neighbours in the neighbour table, ascending."""
        return self._links

    def is_link(self, node_id: int) -> bool:
        """Return whether a node is a neighbour by its hellos."""
        one = self._heard.get(node_id)
        return one is not None and one.is_link

    def heard(self) -> dict[int, Heard]:
        """Return all nodes in the neighbour table, neighbours or not, with the history of their
        hellos.
        """
        return self._heard

    def name_of(self, node_id: int) -> str:
        """Return the name of a node in the neighbour table, or "" for a node that is not heard."""
        one = self._heard.get(node_id)
        return "" if one is None else one.hello.name

    def why(self, node_id: int) -> str:
        """Return why a node is not a neighbour, or NEIGHBOUR."""
        link = self._heard[node_id]
        if link.is_link:
            return NEIGHBOUR
        if link.hello.rules != self._rules:
            return OTHER_RULES
        if not _is_steady(link):
            return LOSSY if link.hello.number - link.first >= HISTORY else NEW
        if self._node_id not in link.hello.heard:
            return ONE_WAY
        return FULL

    def wanted_s(self, own: bool) -> int:
        """Return the seconds since a node stated that it wants all topics, which this node's next
        hello passes on.
        """
        heard = [one.hello.wanted_s + 1 for one in self._heard.values()]
        return 0 if own else min([*heard, NOT_WANTED])

    def _decide(self, node_id: int) -> None:
        one = self._heard[node_id]
        hears_us = self._node_id in one.hello.heard and one.hello.rules == self._rules
        if one.is_link:
            stays = hears_us and 10.0 * one.share() >= LEAST_TENTHS
        else:
            stays = hears_us and _is_steady(one) and len(self._links) < self._capacity
        self._heard[node_id] = one._replace(is_link=stays)

    def _update(self) -> None:
        """Write the neighbourhood again if the neighbours, or their lists, have changed."""
        links = sorted(node_id for node_id, neighbour in self._heard.items() if neighbour.is_link)
        lists = [list(self._heard[node_id].hello.links[: self._capacity]) for node_id in links]
        if (links, lists) == (self._links, self._lists):
            return
        self.before_change()
        self._lists, around = lists, self.neighbourhood
        capacity, own = self._capacity, np.array(links, np.int32)
        if links != self._links:
            self._links = links
            around.who[: len(own)] = own
            around.place[: len(own)] = np.arange(1, len(own) + 1)
            around.last[0] = len(own)
        for row, others in enumerate(lists, start=1):
            at = row * capacity
            around.who[at : at + len(others)] = others
            around.last[row] = at + len(others)
        self.after_change()


def _is_steady(one: Heard) -> bool:
    latest = one.arrived & (2**NEWEST - 1)
    return bool(latest.bit_count() >= APPEARS)
