"""The paths of bulk overlays on drawn underlays [uas §3.1]: disjoint, and past the parent."""

import numpy as np

from halfway.bulk.broker_trees.broker_overlay import NO_BROKER, Overlay, Rules
from halfway.bulk.broker_trees.join import candidates, join
from halfway.world.underlays.waxman import Waxman, waxman


def drawn_overlay(seed: int = 1) -> Overlay:
    """Thirty brokers on a small Waxman network."""
    made = Overlay(waxman(Waxman(n=200, side=200), seed), Rules())
    for row in np.random.default_rng(seed).choice(200, 30, replace=False):
        join(made, int(row))
    return made


def test_the_alternate_is_a_neighbour_of_the_chosen_parent() -> None:
    """[uas §3.1] "an alternate path to the chosen broker through a neighbor of the chosen
    broker"."""
    made = drawn_overlay()
    found = [b for b in made.brokers.values() if b.alternate != NO_BROKER]
    assert found
    for broker in found:
        assert broker.alternate in made.neighbours(broker.parent)
        assert broker.alternate in candidates(made, broker)


def test_the_two_paths_are_disjoint_in_the_physical_network() -> None:
    """[uas §3.1] "These two paths are ensured to be node disjoint in the physical network"."""
    pairs = [(b.direct, b.second) for b in drawn_overlay().brokers.values()]
    found = [
        (x.rows.tolist(), y.rows.tolist()) for x, y in pairs if x is not None and y is not None
    ]
    assert found
    for x, y in found:
        assert set(x) & set(y) == {x[0], x[-1]}


def test_the_path_to_the_grandparent_does_not_contain_the_chosen_broker() -> None:
    """[uas §3.1] "The physical path corresponding to this link does not contain the chosen
    broker"."""
    made = drawn_overlay()
    found = [b for b in made.brokers.values() if b.upper is not None]
    assert found
    for broker in found:
        assert broker.upper is not None
        assert made[broker.parent].row not in broker.upper.rows
