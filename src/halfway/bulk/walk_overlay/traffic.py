"""What events cost on a finished overlay: exact tables, Bloom filters, or no filter at all.

The same filters as the message-level run's once they have settled: behind each overlay link the
union of what is wanted there. A link is a directed one here, from a node to its overlay neighbour.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from halfway.bulk.walk_overlay.overlay import WalkOverlay
from halfway.core.bloom import Size
from halfway.core.compiled import kernel
from halfway.protocols.walk_overlay.filters import insert_all
from halfway.protocols.walk_overlay.subscriptions import Catalogue, admits, matches

Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Traffic:
    """An overlay as a tree of its own rows 0…k-1, in an order in which parents come first."""

    rows: npt.NDArray[np.int64]  # [k] the network's rows
    parent: npt.NDArray[np.int64]  # [k] own row; that of the first is itself

    @classmethod
    def on(cls, overlay: WalkOverlay) -> "Traffic":
        """The tree of an overlay whose walks have all been joined."""
        near: dict[int, list[int]] = {int(row): [] for row in overlay.rows}
        for a, b in overlay.links.tolist():
            near[a].append(b)
            near[b].append(a)
        first = int(overlay.initiators[0])
        order, parent, place = [first], [0], {first: 0}
        for row in order:
            for other in near[row]:
                if other not in place:
                    place[other] = len(order)
                    order.append(other)
                    parent.append(place[row])
        return cls(np.array(order), np.array(parent))

    def place(self, row: int) -> int:
        """The own row of a row of the network."""
        return int(np.flatnonzero(self.rows == row)[0])

    def behind(self, own: npt.NDArray[np.generic]) -> tuple[npt.NDArray[np.generic], ...]:
        """Unions [k, …] of what nodes have [k, …]: behind the link to a node from its parent, and
        behind the link from a node to its parent (of the first node: nothing of meaning)."""
        below = own.copy()
        for i in range(len(own) - 1, 0, -1):
            below[self.parent[i]] |= below[i]
        # Prefix and suffix unions over a node's children leave each of them out in turn.
        above = np.zeros_like(own)
        children: list[list[int]] = [[] for _ in own]
        for i in range(1, len(own)):
            children[self.parent[i]].append(i)
        for i, mine in enumerate(children):
            before = own[i] | above[i] if i else own[i].copy()
            for child in mine:
                above[child] = before
                before = before | below[child]
            after = np.zeros_like(own[i])
            for child in reversed(mine):
                above[child] |= after
                after = after | below[child]
        return below, above

    def transmissions(
        self, publisher: int, down: Bools, up: Bools
    ) -> tuple[npt.NDArray[np.int64], Bools]:
        """How many links the events [E] of a publisher take, and whom they reach [k, E].

        down, up [k, E]: whether the link from a node's parent to it, or back, lets each event pass.
        """
        reached = np.zeros(down.shape, np.bool_)
        reached[publisher] = True
        node = publisher
        while node != 0:
            reached[self.parent[node]] = reached[node] & up[node]
            node = int(self.parent[node])
        ways = set(self._to_first(publisher))
        for i in range(1, len(self.parent)):
            if i not in ways:
                reached[i] = reached[self.parent[i]] & down[i]
        return reached.sum(axis=0) - 1, reached

    def _to_first(self, node: int) -> list[int]:
        way = [node]
        while node != 0:
            node = int(self.parent[node])
            way.append(node)
        return way


def filters(
    traffic: Traffic, wanted: npt.NDArray[np.uint8], catalogue: Catalogue, size: Size
) -> tuple[Words, Words]:
    """Bloom filters [k, words] of the links from each node's parent, and to it."""
    own = np.zeros((len(wanted), size.words), np.uint32)
    for i in np.flatnonzero(wanted.any(axis=1)):
        some = np.flatnonzero(wanted[i]).astype(np.int32)
        insert_all(own[i], some, catalogue, size.bits, size.hashes)
    below, above = traffic.behind(own)
    return below.astype(np.uint32), above.astype(np.uint32)


def passes(words: Words, catalogue: Catalogue, key: int, size: Size) -> Bools:
    """[k, E] whether each filter admits each event of the book."""
    told = np.zeros((len(words), len(catalogue.event_topic)), np.bool_)
    _admitted(words, catalogue, np.uint64(key), size.bits, size.hashes, told)
    return told


def due(wanted: npt.NDArray[np.uint8], catalogue: Catalogue) -> Bools:
    """[k, E] whether a node wants each event of the book."""
    told = np.zeros((len(wanted), len(catalogue.event_topic)), np.bool_)
    _matched(wanted, catalogue, told)
    return told


@kernel
def _admitted(words, catalogue, key, bits, hashes, told):
    for i in range(told.shape[0]):
        for e in range(told.shape[1]):
            told[i, e] = admits(words[i], catalogue, catalogue.event_topic[e], e, key, bits, hashes)


@kernel
def _matched(wanted, catalogue, told):
    for i in range(told.shape[0]):
        for s in range(wanted.shape[1]):
            if wanted[i, s] == 1:
                for e in range(told.shape[1]):
                    told[i, e] = told[i, e] or matches(catalogue, s, catalogue.event_topic[e], e)
