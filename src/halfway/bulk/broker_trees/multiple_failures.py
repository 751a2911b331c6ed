"""Bulk overlays that tolerate several failures, the future work of paper 5: each broker has a
ladder of disjoint paths.

[uas §6] "overlay networks which can tolerate a larger number of node and link failures for general
topologies". We let a broker keep t + 1 disjoint paths to its parent, and to its i-th ancestor
t + 1 - i disjoint paths that avoid the i ancestors below that one. If the lowest i ancestors fail,
t - i failures are left for t + 1 - i paths, so one of them works; the same holds for the ancestor
at its end, and so on up to the root. With t = 1 this is x, y and z.

The program real_underlay.py of the examples counts the brokers that can have a ladder on a given
underlay. The page docs/papers/underlay-siena.md has these numbers for seven published underlays.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from halfway.bulk.broker_trees.broker_overlay import Overlay, UnderlayPath
from halfway.bulk.broker_trees.join import avoided
from halfway.problem import Problem
from halfway.world.underlays.disjoint import disjoint_paths

Hindrance = Literal[
    "none",
    "the underlay is cut",  # t or fewer failures cut it from the root; no overlay can help
    "too few links at the broker",
    "too few links at an ancestor",
    "a cut before an ancestor",  # enough links, but too few nodes between
]


@dataclass(frozen=True)
class Rung:
    """One rung of the ladder of a broker: the disjoint paths to one ancestor, against multiple
    failures.
    """

    ancestor: int  # the number of the ancestor
    wanted: int  # disjoint paths to the ancestor
    routes: tuple[UnderlayPath, ...]


Ladder = tuple[Rung, ...]


def ladder(overlay: Overlay, number: int, t: int) -> Ladder:
    """Return a broker's ladder against multiple failures: its disjoint paths to its next t + 1
    ancestors or the root, as far as they exist.

    Raises Problem for t < 1.
    """
    if t < 1:
        raise Problem(f"t = {t}: expected at least 1")
    network, row = overlay.underlay.network, overlay[number].row
    rungs: list[Rung] = []
    passed: list[int] = []
    for i, ancestor in enumerate(islice(overlay.ancestors(number), t + 1)):
        wanted, target = t + 1 - i, overlay[ancestor].row
        with avoided(overlay, passed):
            disjoint = disjoint_paths(network, overlay.hop, row, target, wanted, overlay.closed)
        routes = tuple(route for rows in disjoint if (route := overlay.route(rows)) is not None)
        rungs.append(Rung(ancestor, wanted, routes))
        passed.append(target)
    return tuple(rungs)


def is_full(rungs: Ladder) -> bool:
    """Return whether every rung of a broker's ladder for multiple failures has all wanted paths."""
    return all(len(rung.routes) == rung.wanted for rung in rungs)


def hindrance(overlay: Overlay, number: int, t: int) -> Hindrance:
    """Return the reason why a broker does not tolerate multiple failures, because it has no full
    ladder for t failures; "none" if its ladder is full.
    """
    network = overlay.underlay.network
    rungs = ladder(overlay, number, t)
    if is_full(rungs):
        return "none"
    ends = overlay[number].row, overlay[overlay.root].row
    if len(disjoint_paths(network, overlay.hop, *ends, t + 1, overlay.closed)) <= t:
        few = network.degree[ends[0]] <= t
        return "too few links at the broker" if few else "the underlay is cut"
    short = next(rung for rung in rungs if len(rung.routes) < rung.wanted)
    if network.degree[overlay[short.ancestor].row] < short.wanted:
        return "too few links at an ancestor"
    return "a cut before an ancestor"


def hindrances(overlay: Overlay, t: int) -> Counter[Hindrance]:
    """Count the brokers below the root that do not tolerate multiple failures, because they have no
    full ladder for t failures, by reason.
    """
    return Counter(hindrance(overlay, n, t) for n in overlay.brokers if n != overlay.root)
