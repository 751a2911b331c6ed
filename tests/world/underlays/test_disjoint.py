"""Disjoint paths against min-cost flows of networkx, and networks without any."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.underlays.disjoint import disjoint_legs, disjoint_pair, disjoint_paths
from halfway.world.underlays.routes import Closed, Doubles, Rows, all_open, places_on, unit_weights
from halfway.world.underlays.waxman import Waxman, waxman
from tests.networks import from_links, line
from tests.world.underlays.weighted import weighted, with_two_doors

Given = tuple[Network, Doubles, Closed]
# The lightest path 0-2-3-1 blocks both disjoint ones; the pair does not use the link 2-3.
TRAP = [(0, 2), (2, 3), (3, 1), (0, 3), (2, 1)]


def apart(found: list[Rows]) -> bool:
    """Assert that no node is inside two paths, nor twice in one."""
    inside = [row for rows in found for row in rows[1:-1].tolist()]
    return len(inside) == len(set(inside))


def expected(made: Given, wanted: dict[int, int]) -> tuple[int, int]:
    """The number of disjoint paths, and their least total weight, by networkx."""
    graph = with_two_doors(*made, 0, wanted)
    flow = nx.max_flow_min_cost(graph, "S", "T")
    return sum(flow["S"].values()), nx.cost_of_flow(graph, flow)


def check(made: Given, found: list[Rows], wanted: dict[int, int]) -> None:
    network, weight, closed = made
    total = [float(weight[places_on(network, rows)].sum()) for rows in found]
    assert (len(found), sum(total)) == expected(made, wanted)
    assert total == sorted(total)
    assert apart(found)
    assert len({tuple(rows.tolist()) for rows in found}) == len(found)
    for rows in found:
        assert rows[0] == 0
        assert rows[-1] in wanted
        assert not set(rows[:-1].tolist()) & set(wanted)
        assert not closed.rows[rows].any()
        assert not closed.places[places_on(network, rows)].any()


@given(weighted(), st.integers(1, 4))
def test_as_many_paths_as_exist_at_the_least_weight(made: Given, most: int) -> None:
    network, weight, closed = made
    check(made, disjoint_paths(network, weight, 0, 1, most, closed), {1: most})


@given(weighted(), st.integers(0, 2), st.integers(0, 3))
def test_legs_to_two_targets(made: Given, one: int, other: int) -> None:
    network, weight, closed = made
    last = network.n - 1
    wanted = {1: one} if last == 1 or closed.rows[last] else {1: one, last: other}
    check(made, disjoint_legs(network, weight, 0, wanted, closed), wanted)


@given(weighted())
def test_there_is_a_pair_unless_one_node_or_the_only_link_separates_the_ends(made: Given) -> None:
    network, weight, closed = made
    graph = nx.DiGraph(with_two_doors(network, weight, closed, 0, {1: 2}))
    pair = disjoint_pair(network, weight, 0, 1, closed)
    assert (pair is not None) == (nx.maximum_flow_value(graph, "S", "T") == 2)


def test_the_lightest_path_may_be_in_neither() -> None:
    network = from_links(4, TRAP)
    weight = 3.0 * unit_weights(network)
    for a, b in ((0, 2), (2, 3), (3, 1)):
        weight[network.start[a] + np.searchsorted(network.neighbours(a), b)] = 1.0
    pair = disjoint_pair(network, weight, 0, 1)
    assert pair is not None
    assert [rows.tolist() for rows in pair] == [[0, 2, 1], [0, 3, 1]]


def test_a_node_that_two_paths_gave_up_is_free_for_the_third() -> None:
    # First 0-2-3-4-1; two are 0-4-1 and 0-2-1; three take 3 again.
    light, middle, heavy = [(0, 2), (2, 3), (3, 4), (4, 1)], [(0, 4), (2, 1)], [(0, 3), (3, 1)]
    network = from_links(5, light + middle + heavy)
    weight = unit_weights(network)
    for links, each in ((middle, 5.0), (heavy, 100.0)):
        for a, b in (*links, *((b, a) for a, b in links)):
            weight[network.start[a] + np.searchsorted(network.neighbours(a), b)] = each
    for most, through in ((1, [[2, 3, 4]]), (2, [[2], [4]]), (3, [[2], [4], [3]])):
        found = disjoint_paths(network, weight, 0, 1, most)
        assert [rows[1:-1].tolist() for rows in found] == through


def test_a_line_has_no_pair_and_a_ring_has_one() -> None:
    assert disjoint_pair(line(4), unit_weights(line(4)), 0, 3) is None
    ring = from_links(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    pair = disjoint_pair(ring, unit_weights(ring), 0, 1)
    assert pair is not None
    assert [rows.tolist() for rows in pair] == [[0, 1], [0, 3, 2, 1]]
    closed = all_open(ring)
    closed.rows[2] = True
    assert disjoint_pair(ring, unit_weights(ring), 0, 1, closed) is None


def test_three_paths_in_a_real_delay_network() -> None:
    underlay = waxman(Waxman(n=300), 2)
    network = underlay.network
    weight = np.round(underlay.delay_s * 1e9)  # whole nanoseconds: networkx adds integers exactly
    made = (network, weight, all_open(network))
    check(made, disjoint_paths(network, weight, 0, 7, 3), {7: 3})


def test_ends_out_of_range_are_refused() -> None:
    network = line(3)
    with pytest.raises(Problem, match="target = 1: expected a node other than the source"):
        disjoint_pair(network, unit_weights(network), 1, 1)
    with pytest.raises(Problem, match="node 9 does not exist: expected 0 to"):
        disjoint_pair(network, unit_weights(network), 1, 9)
    with pytest.raises(Problem, match="-1 paths to node 2"):
        disjoint_paths(network, unit_weights(network), 0, 2, -1)
