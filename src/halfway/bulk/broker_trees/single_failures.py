"""Single failures of an underlay: the live brokers of a bulk overlay that each failure cuts off,
and the causes.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.bulk.broker_trees.broker_overlay import Broker, Overlay, tops
from halfway.bulk.broker_trees.guarantees import guarantee, level, meets_premise
from halfway.core.compiled import inlined, kernel
from halfway.protocols.broker_trees.paths.decisions import CUT_OFF, next_hop_up
from halfway.world.underlays.routes import route, shortest

Cause = Literal[
    "no second path",  # the underlay has such a path to the parent, the overlay has not
    "no path past the parent",  # the underlay has a path to the grandparent, the overlay has not
    "the parent is cut off",  # the underlay leads to the root, but not to the parent
    "the grandparent is cut off",  # the parent failed; the underlay does not lead to the next
    "the underlay is cut",  # from the root: no overlay could help
]
_PATHS = 3  # paths a broker: x, y, z


class _PathTable(NamedTuple):
    """The table of paths for single failures, where broker k is the k-th broker by number and has
    the paths 3 k + (0, 1, 2).
    """

    row: npt.NDArray[np.int64]  # [brokers] of the underlay
    target: npt.NDArray[np.int64]  # [3 brokers] the broker at the end of each path; -1: no path
    root: int
    first: npt.NDArray[np.int64]  # [nodes + links + 1] element e lies on paths[first[e]:first[e+1]]
    paths: npt.NDArray[np.int64]


@dataclass(frozen=True)
class SingleFailures:
    """The brokers that each single failure cuts off, where the elements are the nodes (rows) and
    then the links.
    """

    lost: npt.NDArray[np.int64]  # [elements] live brokers that no longer reach the root
    broker: npt.NDArray[np.int64]  # [losses] number of each such broker …
    element: npt.NDArray[np.int64]  # [losses] … and what failed


class Census(NamedTuple):
    """The numbers of brokers of an overlay whose paths survive single failures, by level of
    guarantee.
    """

    own: tuple[int, ...]  # brokers by level 0…3; the root has level 3
    whole: tuple[int, ...]  # the same, by the least level up to the root
    premise: int  # brokers that meet the premise of the paper's lemma
    brokers: int


def census(overlay: Overlay) -> Census:
    """Count the brokers of an overlay whose paths survive single failures, and of each lower
    level.
    """
    own = Counter(level(overlay, number) for number in overlay.brokers)
    whole = Counter(guarantee(overlay, number) for number in overlay.brokers)
    premise = sum(meets_premise(overlay, broker) for broker in overlay.brokers.values())
    counts = [tuple(levels[k] for k in range(4)) for levels in (own, whole)]
    return Census(counts[0], counts[1], premise, len(overlay.brokers))


def single_failures(overlay: Overlay) -> SingleFailures:
    """Let each node of an underlay except the root's fail alone, then each link; return the brokers
    of the overlay that are cut off.

    Before the call, everything must be up. The node of the root does not count, and its `lost` is
    0.
    """
    table = _path_table(overlay)
    elements = len(table.first) - 1
    lost = np.zeros(elements, np.int64)
    pairs = np.empty((elements * 4 + 64, 2), np.int64)
    while True:
        count = int(_fail_each(*table, lost, pairs))
        if count <= len(pairs):
            break
        pairs = np.empty((count, 2), np.int64)
    numbers = np.array(sorted(overlay.brokers), np.int64)
    return SingleFailures(lost, numbers[pairs[:count, 0]], pairs[:count, 1].copy())


def causes(overlay: Overlay, failures: SingleFailures) -> Counter[Cause]:
    """Count the causes of losses by single failures: a cut underlay, or a path the overlay lacks.

    A broker is lost in two cases. The first stuck broker on its way up has a working parent, but
    neither path x nor path y. Or this broker has a failed parent, and no path z.
    """
    counted: Counter[Cause] = Counter()
    for element in np.unique(failures.element):
        _mark(overlay, int(element), down=True)
        # One search from the root finds the brokers with any path. Each stuck broker needs one more
        # search.
        top = overlay[overlay.root].row
        tree = shortest(overlay.underlay.network, overlay.hop, top, overlay.closed)
        highest, known = tops(overlay), dict[int, Cause]()
        for number in failures.broker[failures.element == element].tolist():
            if tree.parent[overlay[number].row] < 0:
                counted["the underlay is cut"] += 1
                continue
            stuck = highest[number]
            if stuck not in known:
                known[stuck] = _cause(overlay, overlay[stuck])
            counted[known[stuck]] += 1
        _mark(overlay, int(element), down=False)
    return counted


def _cause(overlay: Overlay, stuck: Broker) -> Cause:
    if overlay.is_up(stuck.parent):
        return "no second path" if _leads(overlay, stuck, stuck.parent) else "the parent is cut off"
    led = _leads(overlay, stuck, overlay[stuck.parent].parent)
    return "no path past the parent" if led else "the grandparent is cut off"


def _leads(overlay: Overlay, broker: Broker, other: int) -> bool:
    ends = (broker.row, overlay[other].row)
    return len(route(overlay.underlay.network, overlay.hop, *ends, overlay.closed)) > 0


def _mark(overlay: Overlay, element: int, *, down: bool) -> None:
    network = overlay.underlay.network
    if element < network.n:
        overlay.set_row(element, down=down)
        return
    at = np.flatnonzero(overlay.underlay.link == element - network.n)[0]
    overlay.set_link(int(overlay.underlay.owner[at]), int(network.who[at]), down=down)


def _path_table(overlay: Overlay) -> _PathTable:
    numbers = sorted(overlay.brokers)
    index = {number: k for k, number in enumerate(numbers)}
    target = np.full(_PATHS * len(numbers), -1, np.int64)
    lies: list[npt.NDArray[np.int64]] = []
    nodes, link = overlay.underlay.network.n, overlay.underlay.link.astype(np.int64)
    for k, number in enumerate(numbers):
        broker = overlay[number]
        ends = (broker.parent, broker.parent, broker.grandparent)
        paths = (broker.direct, broker.second, broker.upper)
        for w, (end, path) in enumerate(zip(ends, paths, strict=True)):
            if path is not None and end in index:
                target[_PATHS * k + w] = index[end]
                on = np.unique(np.concatenate((path.rows, link[path.places] + nodes)))
                lies.append(np.column_stack((on, np.full(len(on), _PATHS * k + w))))
    pairs = np.concatenate(lies) if lies else np.empty((0, 2), np.int64)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    elements = nodes + overlay.underlay.network.links
    first = np.searchsorted(pairs[:, 0], np.arange(elements + 1)).astype(np.int64)
    rows = np.array([overlay[number].row for number in numbers], np.int64)
    return _PathTable(rows, target, index[overlay.root], first, pairs[:, 1].astype(np.int64))


@inlined
def _works(target, dead, p):
    # A path ends at a broker, so the path is dead if the node of this broker is down.
    return target[p] >= 0 and not dead[p]


@kernel
def _fail_each(row, target, root, first, paths, lost, pairs):
    # Returns the number of losses; those beyond the room of `pairs` are only counted.
    brokers = row.shape[0]
    dead = np.zeros(target.shape[0], np.bool_)
    count = 0
    for e in range(lost.shape[0]):
        lost[e] = 0
        if e == row[root] or first[e] == first[e + 1]:
            continue
        for p in range(first[e], first[e + 1]):
            dead[paths[p]] = True
        for k in range(brokers):
            if row[k] == e:
                continue
            here, steps = k, 0
            while here != root and steps <= brokers:
                p = 3 * here
                path = next_hop_up(
                    _works(target, dead, p),
                    _works(target, dead, p + 1),
                    _works(target, dead, p + 2),
                )
                if path == CUT_OFF:
                    break
                here = target[p + path]
                steps += 1
            if here != root:
                lost[e] += 1
                if count < pairs.shape[0]:
                    pairs[count, 0], pairs[count, 1] = k, e
                count += 1
        for p in range(first[e], first[e + 1]):
            dead[paths[p]] = False
    return count
