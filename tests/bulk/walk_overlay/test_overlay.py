"""Walk overlays in bulk: the same nodes as the oracle, and invariants of every overlay."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.bulk.walk_overlay.overlay import Overlays, WalkOverlay
from halfway.problem import Problem
from halfway.world.graphs.network import Network
from tests.bulk.walk_overlay.slow_overlay import slow_overlay
from tests.networks import disk, from_links, line
from tests.protocols.worlds import component, networks

RECIPES: tuple[dict[str, Any], ...] = (
    {},
    {"system": "random-walk"},
    {"marking": "reached"},
    {"alpha": 0.5, "beta": 2.0},
    {"branches": 2},
    {"alpha": 0.0, "beta": 1.0, "branches": 2, "together": 1},
    {"branches": 2, "system": "random-walk"},
)


def by_the_oracle(network: Network, initiators: list[int], seed: int, recipe: Any) -> Any:
    """The oracle's walks for a recipe of the bulk driver."""
    given = dict(recipe)
    given["pure"] = given.pop("system", "") == "random-walk"
    given["early"] = given.pop("marking", "") == "reached"
    return slow_overlay(network, initiators, seed, **given)


def agree(overlay: WalkOverlay, walks: Any) -> None:
    """Same nodes in the same order, same steps, same meetings."""
    for w, walk in enumerate(walks):
        mine = overlay.rows[overlay.walk == w].tolist()
        assert mine == walk.nodes
        assert overlay.back[overlay.walk == w].tolist() == [walk.back[i] for i in mine]
        assert overlay.steps[w] == walk.steps
        if walk.nodes:
            met = (int(overlay.met_from[w]), int(overlay.met_at[w]))
            assert met == (walk.met or (-1, -1))


@settings(max_examples=120)
@given(networks(connected=False), st.integers(0, 2**64 - 1), st.sampled_from(RECIPES), st.data())
def test_the_bulk_driver_builds_what_the_oracle_builds(
    network: Network, seed: int, recipe: Any, data: st.DataObject
) -> None:
    """[dwo §V-B] "added to the DRW if it has the minimum cost": as in the oracle."""
    if network.degree.min() == 0:
        network = from_links(network.n, [(i, i + 1) for i in range(network.n - 1)])
    initiators = data.draw(st.permutations(range(network.n)))
    initiators = initiators[: data.draw(st.integers(2, network.n))]
    if recipe.get("system") == "random-walk" and len(component(network, 0)) < network.n:
        return  # a pure walk in a component of its own never ends
    overlay = Overlays(network).build(initiators, seed=seed, **recipe)
    agree(overlay, by_the_oracle(network, initiators, seed, recipe))


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_oracle_agrees_on_unit_disks_overlay_after_overlay(recipe: Any) -> None:
    network = disk(n=90, radius=0.2, seed=2)
    overlays = Overlays(network)
    for seed in range(4):
        initiators = np.random.default_rng(seed).permutation(network.n)[:9].tolist()
        overlay = overlays.build(initiators, seed=seed, **recipe)
        agree(overlay, by_the_oracle(network, initiators, seed, recipe))


@pytest.mark.parametrize("recipe", [{}, {"marking": "reached"}])
def test_neighbours_of_the_walk_are_marked_and_counted(recipe: Any) -> None:
    """[dwo §V-B, (3), (4)] N(DRW) are the neighbours of the nodes that a walk left or, by the other
    interpretation, reached. Each node counts its neighbours in N(DRW).
    """
    network = disk(n=90, radius=0.2, seed=2)
    around = [set(map(int, network.neighbours(i))) for i in range(network.n)]
    overlays = Overlays(network)
    for seed in range(4):
        initiators = np.random.default_rng(seed).permutation(network.n)[:2].tolist()
        overlays.build(initiators, seed=seed, **recipe)
        marks = overlays._marks
        for w, walk in enumerate(by_the_oracle(network, initiators, seed, recipe)):
            stamp = marks.stamp[0] - 1 + w
            marked = set().union(*(around[i] for i in walk.left))
            assert set(np.flatnonzero(marks.marked[:, w] == stamp)) == marked
            counted = np.where(marks.counted[:, w] == stamp, marks.near[:, w], 0)
            assert counted.tolist() == [len(around[i] & marked) for i in range(network.n)]


def test_the_first_step_is_random() -> None:
    """[dwo Alg. 2, line 11] From the centre of a star, each neighbour is equally likely."""
    network = from_links(7, [(0, k) for k in range(1, 6)] + [(5, 6)])
    overlays = Overlays(network)
    first = [int(overlays.build([0, 6], seed=seed).rows[2]) for seed in range(600)]
    share = np.bincount(first, minlength=6)[1:5] / len(first)
    assert share == pytest.approx(share.mean(), abs=0.05)


@given(st.integers(0, 2**32), st.integers(2, 40), st.sampled_from(RECIPES))
def test_an_overlay_is_a_tree_with_every_initiator(seed: int, count: int, recipe: Any) -> None:
    """[dwo Alg. 1] The walks of all initiators join one tree, one after another."""
    network = disk(n=90, radius=0.2, seed=seed % 5)
    initiators = np.random.default_rng(seed).permutation(network.n)[:count]
    overlay = Overlays(network).build(initiators, seed=seed, **recipe)
    assert overlay.joined.all()
    assert len(set(overlay.rows)) == len(overlay.rows)
    assert set(initiators) <= set(overlay.rows)
    assert len(overlay.links) == len(overlay.rows) - 1
    assert all(b in network.neighbours(a) for a, b in overlay.links)
    tree = from_links(network.n, {(min(a, b), max(a, b)) for a, b in overlay.links.tolist()})
    assert component(tree, int(initiators[0])) == set(overlay.rows)
    needed = set(overlay.needed())
    assert set(initiators) <= needed <= set(overlay.rows)
    ends = {i for i in needed if len(needed & set(map(int, tree.neighbours(i)))) <= 1}
    assert ends <= set(initiators)


def test_an_initiator_on_a_walk_joins_without_a_step() -> None:
    """[dwo Alg. 2, line 4] an initiator on another walk needs no walk of its own."""
    overlay = Overlays(line(9)).build([0, 8, 3], seed=1)
    assert (overlay.steps[2], overlay.met_at[2], overlay.met_from[2]) == (0, 3, -1)
    assert overlay.joined.all()


def test_neighbouring_initiators_meet_each_other_at_once() -> None:
    """[dwo Alg. 2, line 7] "is part of other DRW": a neighbour ends the walk at its first step."""
    overlay = Overlays(line(2)).build([1, 0], seed=1)
    assert (overlay.steps.tolist(), overlay.met_at.tolist()) == ([1, 0], [0, -1])
    assert overlay.joined.all()


def test_a_walk_visits_its_whole_component_before_it_ends() -> None:
    """[dwo §V-B] "our algorithm goes back in the DRW": from each node but the initiators."""
    network = from_links(7, [(0, 1), (1, 2), (1, 3), (4, 5), (5, 6)])
    overlay = Overlays(network).build([0, 4], seed=1)
    assert sorted(overlay.rows) == list(range(7))
    assert not overlay.joined.any()
    assert overlay.retreats == 3 + 2  # back from each node but the initiators


def test_a_walk_never_revisits_unless_it_is_pure() -> None:
    """[dwo §III] "go forward into the network following a loop-free path": no node twice."""
    network = disk(n=90, radius=0.2, seed=1)
    for seed in range(20):
        overlay = Overlays(network).build([3, 80], seed=seed)
        # Every step adds a node, goes back from one, or meets.
        assert overlay.steps.sum() == len(overlay.rows) - 2 + overlay.retreats + 1
    pure = Overlays(network).build([3, 80], seed=1, system="random-walk")
    assert pure.steps.sum() > len(pure.rows) - 2 + pure.retreats + 1


def test_walks_that_reach_most_steps_have_not_joined() -> None:
    network = disk(n=90, radius=0.2, seed=1)
    overlay = Overlays(network).build([0, 89], seed=1, most_steps=2)
    assert not overlay.joined.any()
    assert overlay.steps.sum() == 2


@pytest.mark.parametrize(
    ("initiators", "given"),
    [
        ([0], {}),
        ([0, 0], {}),
        ([0, 9], {}),
        ([-1, 2], {}),
        ([0, 1], {"system": "straight"}),
        ([0, 1], {"branches": 3}),
        ([0, 1], {"together": 0}),
        ([0, 1], {"alpha": -1.0}),
        ([0, 1], {"beta": float("nan")}),
        ([0, 1], {"marking": "never"}),
    ],
)
def test_invalid_arguments_are_refused(initiators: list[int], given: Any) -> None:
    with pytest.raises(Problem):
        Overlays(line(9)).build(initiators, seed=1, **given)


def test_a_network_with_an_isolated_node_is_refused() -> None:
    with pytest.raises(Problem, match="without neighbours"):
        Overlays(from_links(3, [(0, 1)]))


def test_the_walk_of_figure_5_chooses_the_neighbour_of_the_least_cost() -> None:
    """[dwo Fig. 5] the costs of a, b, c, d and z are 3, 2, 3, 2 and 1; z has the minimum."""
    x, y, a, b, c, d, z, left, right = range(9)
    tail = [(z, 9), (9, 10), (10, 11), (11, 12)]  # to the other initiator
    around_x = [(x, y), (x, left), (x, right)]
    around_y = [(y, v) for v in (a, b, c, d, z)]
    marked = [(a, left), (a, right), (b, left), (c, left), (c, right), (d, right)]
    network = from_links(13, [*around_x, *around_y, *marked, *tail])
    of_x = set(network.neighbours(x).tolist())
    costs = [len(of_x & set(network.neighbours(v).tolist())) for v in (a, b, c, d, z)]
    assert costs == [3, 2, 3, 2, 1]
    overlays, third = Overlays(network), []
    for seed in range(60):  # the first step is random [dwo Alg. 2, line 11]
        overlay = overlays.build([x, 12], seed=seed)
        nodes = overlay.rows[overlay.walk == 0].tolist()
        if nodes[1:2] == [y] and len(nodes) > 2:
            third.append(nodes[2])
    assert len(third) > 10
    assert set(third) == {z}
