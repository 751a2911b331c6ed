"""Transmissions of events on a finished walk overlay: exact tables, Bloom filters, or no filter.

The filters are equal to the settled filters of the message-level run: the filter of a link is the
union of the subscriptions behind the link. A link has a direction here, from a node to an overlay
neighbour.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from halfway.bulk.walk_overlay.overlay import WalkOverlay
from halfway.core.bloom import Size
from halfway.core.compiled import kernel
from halfway.protocols.walk_overlay.subscription_items import Catalogue, admits, insert_all, matches

Bools = npt.NDArray[np.bool_]
FilterWords = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Traffic:
    """The tree of a walk overlay for the traffic of events, with its own rows 0…k-1, in which
    parents come before children.
    """

    rows: npt.NDArray[np.int64]  # [k] the network's rows
    parent: npt.NDArray[np.int64]  # [k] own row of the parent; the first row is its own parent

    @classmethod
    def on(cls, overlay: WalkOverlay) -> "Traffic":
        """Return the traffic tree of a walk overlay in which every walk has met another walk."""
        neighbours: dict[int, list[int]] = {int(row): [] for row in overlay.rows}
        for a, b in overlay.links.tolist():
            neighbours[a].append(b)
            neighbours[b].append(a)
        first = int(overlay.initiators[0])
        order, parent, place = [first], [0], {first: 0}
        for row in order:
            for other in neighbours[row]:
                if other not in place:
                    place[other] = len(order)
                    order.append(other)
                    parent.append(place[row])
        return cls(np.array(order), np.array(parent))

    def place(self, row: int) -> int:
        """Return the row in the traffic tree of a walk overlay for a row of the network."""
        return int(np.flatnonzero(self.rows == row)[0])

    def behind(self, own: npt.NDArray[np.generic]) -> tuple[npt.NDArray[np.generic], ...]:
        """Return, for the filters of a walk overlay's traffic, the union [k, …] of `own` [k, …]
        behind each link of the tree, in both directions. The first node has no link to a parent.
        """
        below = own.copy()
        for i in range(len(own) - 1, 0, -1):
            below[self.parent[i]] |= below[i]
        # Prefix and suffix unions over the children of a node give the union without each child.
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
        """Return the traffic of each event [E] of a publisher on the overlay: crossed links, and
        reached nodes [k, E].

        down, up: [k, E] whether the link from the parent to the node (down), or back (up), admits
        each event.
        """
        reached = np.zeros(down.shape, np.bool_)
        reached[publisher] = True
        node = publisher
        path = {node}  # from the publisher to the first node
        while node != 0:
            reached[self.parent[node]] = reached[node] & up[node]
            node = int(self.parent[node])
            path.add(node)
        for i in range(1, len(self.parent)):
            if i not in path:
                reached[i] = reached[self.parent[i]] & down[i]
        return reached.sum(axis=0) - 1, reached


def filters(
    traffic: Traffic, wanted: npt.NDArray[np.uint8], catalogue: Catalogue, size: Size
) -> tuple[FilterWords, FilterWords]:
    """Return two arrays of Bloom filters [k, words] for overlay traffic: from the parent of each
    node, and to the parent.
    """
    own = np.zeros((len(wanted), size.words), np.uint32)
    for i in np.flatnonzero(wanted.any(axis=1)):
        rows = np.flatnonzero(wanted[i]).astype(np.int32)
        insert_all(own[i], rows, catalogue, size.bits, size.hashes)
    below, above = traffic.behind(own)
    return below.astype(np.uint32), above.astype(np.uint32)


@kernel
def passes(words: FilterWords, catalogue: Catalogue, key: int, size: Size) -> Bools:
    """Return [k, E]: True if a filter [k, words] of overlay traffic admits an event."""
    admitted = np.empty((words.shape[0], catalogue.event_topic.shape[0]), np.bool_)
    for i in range(admitted.shape[0]):
        for e in range(admitted.shape[1]):
            topic = catalogue.event_topic[e]
            admitted[i, e] = admits(
                words[i], topic, catalogue.value[e], np.uint64(key), size.bits, size.hashes
            )
    return admitted


@kernel
def match_matrix(wanted: npt.NDArray[np.uint8], catalogue: Catalogue) -> Bools:
    """Return [k, E]: True if the subscriptions [k, subscriptions] of a node match an event of the
    traffic.
    """
    matched = np.zeros((wanted.shape[0], catalogue.event_topic.shape[0]), np.bool_)
    for i in range(matched.shape[0]):
        for s in range(wanted.shape[1]):
            if wanted[i, s] == 1:
                for e in range(matched.shape[1]):
                    topic = catalogue.event_topic[e]
                    values = catalogue.value[e]
                    matched[i, e] = matched[i, e] or matches(catalogue, s, topic, values)
    return matched
