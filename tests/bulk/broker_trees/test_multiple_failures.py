"""Ladders of disjoint paths: every set of t failures on small underlays, and hindrances."""

import itertools
from collections import Counter

import numpy as np
import pytest

from halfway.bulk.broker_trees.broker_overlay import Overlay, Rules
from halfway.bulk.broker_trees.delivery_ratio import fail_element
from halfway.bulk.broker_trees.guarantees import level
from halfway.bulk.broker_trees.join import join
from halfway.bulk.broker_trees.multiple_failures import (
    Ladder,
    hindrance,
    hindrances,
    is_full,
    ladder,
)
from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.underlays.underlay import Underlay
from halfway.world.underlays.waxman import Waxman, waxman
from tests.networks import from_links


def grown(network: Network | None, brokers: int, seed: int, n: int = 24, m: int = 3) -> Overlay:
    """Brokers on a given network of equal links, or on a small, dense Waxman network."""
    if network is None:
        underlay = waxman(Waxman(n=n, m=m, side=100), seed)
    else:
        underlay = Underlay(
            network, np.full(len(network.who), 1e-3), np.full(len(network.who), 1e7)
        )
    overlay = Overlay(underlay, Rules())
    rows = np.random.default_rng(seed).choice(underlay.network.n, brokers, replace=False)
    for row in rows:
        join(overlay, int(row))
    return overlay


def elements(overlay: Overlay) -> list[tuple[int, int]]:
    """Every node but the root's, every link."""
    network, owner = overlay.underlay.network, overlay.underlay.owner
    root = overlay[overlay.root].row
    links = [(int(a), int(b)) for a, b in zip(owner, network.who, strict=True) if a < b]
    return [(row, row) for row in range(network.n) if row != root] + links


def connected_by(overlay: Overlay, ladders: dict[int, Ladder]) -> set[int]:
    """Live brokers that reach the root over their ladders."""
    next_up: dict[int, int] = {}
    for number, rungs in ladders.items():
        if overlay.is_up(number):
            live = (
                rung.ancestor
                for rung in rungs
                if overlay.is_up(rung.ancestor)
                and any(route.is_open(overlay.closed) for route in rung.routes)
            )
            above = next(live, None)
            if above is not None:
                next_up[number] = above
    reached = set()
    for number in [*ladders, overlay.root]:
        here = number
        while here != overlay.root and here in next_up:
            here = next_up[here]
        if here == overlay.root and overlay.is_up(number):
            reached.add(number)
    return reached


def tolerates(overlay: Overlay, t: int) -> set[int]:
    """Brokers that t failures of anything but the root's node never cut off: their own ladder and
    all ladders above them are full."""
    full = {
        number: number == overlay.root or is_full(ladder(overlay, number, t))
        for number in overlay.brokers
    }
    return {n for n in full if full[n] and all(full[above] for above in overlay.ancestors(n))}


@pytest.mark.parametrize("seed", [1, 2])
def test_no_two_failures_cut_off_a_broker_that_tolerates_two(seed: int) -> None:
    overlay = grown(None, 7, seed)
    ladders = {n: ladder(overlay, n, 2) for n in overlay.brokers if n != overlay.root}
    safe = tolerates(overlay, 2)
    assert len(safe) > 1
    stranded: Counter[int] = Counter()
    for pair in itertools.combinations(elements(overlay), 2):
        now = overlay.twin()
        for fault in pair:
            fail_element(now, fault)
        reached = connected_by(now, ladders)
        assert {n for n in safe if now.is_up(n)} <= reached, pair
        stranded.update(n for n in overlay.brokers if now.is_up(n) and n not in reached)
    assert not safe & set(stranded)


def test_three_failures_on_a_complete_graph() -> None:
    everyone = from_links(8, itertools.combinations(range(8), 2))
    overlay = grown(everyone, 5, 3)
    assert tolerates(overlay, 3) == set(overlay.brokers)
    ladders = {n: ladder(overlay, n, 3) for n in overlay.brokers if n != overlay.root}
    random_state = np.random.default_rng(1)
    some = elements(overlay)
    for _ in range(300):
        now = overlay.twin()
        for k in random_state.choice(len(some), 3, replace=False):
            fail_element(now, some[k])
        assert connected_by(now, ladders) == {n for n in overlay.brokers if now.is_up(n)}


def test_one_failure_is_the_papers_case() -> None:
    """[uas §4.2] with t = 1 a full ladder exists exactly where x, y and z of level 3 can."""
    for seed in range(5):
        overlay = grown(None, 8, seed, n=30, m=2)
        for number in overlay.brokers:
            if number != overlay.root:
                assert is_full(ladder(overlay, number, 1)) == (level(overlay, number) == 3)


def test_the_reason_why_a_broker_cannot_is_found() -> None:
    ring = grown(from_links(6, [(i, (i + 1) % 6) for i in range(6)]), 3, 1)
    assert hindrances(ring, 1)["none"] == 2
    assert hindrances(ring, 2) == Counter({"too few links at the broker": 2})
    # Two complete graphs of five that share two nodes: three paths between them do not exist.
    left, right = [0, 1, 2, 3, 4], [3, 4, 5, 6, 7]
    links = [*itertools.combinations(left, 2), *itertools.combinations(right, 2)]
    network = from_links(8, links)
    underlay = Underlay(network, np.full(len(network.who), 1e-3), np.full(len(network.who), 1e7))
    overlay = Overlay(underlay, Rules())
    join(overlay, 0)
    join(overlay, 7)
    assert hindrance(overlay, 1, 1) == "none"
    assert hindrance(overlay, 1, 2) == "the underlay is cut"
    with pytest.raises(Problem, match="t = 0"):
        ladder(overlay, 1, 0)
