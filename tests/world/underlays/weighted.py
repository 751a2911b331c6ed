"""Random weighted networks for the tests of routes, and the oracles' form of them."""

from itertools import pairwise

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from halfway.world.graphs.network import Network
from halfway.world.underlays.routes import Closed, Doubles
from tests.networks import from_links


@st.composite
def weighted(draw: st.DrawFn, least: int = 0) -> tuple[Network, Doubles, Closed]:
    """Up to 14 nodes, whole weights (so that ties are many and sums exact), some of it closed.

    Rows 0 and 1 are open: tests go from 0 to 1. Drawn from a seed, because lists that hypothesis
    draws itself are mostly too short for a path that is displaced. Half of them are lanes from
    0 to 1 with light links across, where the lightest path blocks several lanes.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if draw(st.booleans()):
        lanes, stages = draw(st.integers(2, 4)), draw(st.integers(1, 3))
        n = 2 + lanes * stages
        row = 2 + np.arange(lanes * stages).reshape(lanes, stages)
        along = [(a, b) for lane in row.tolist() for a, b in pairwise([0, *lane, 1])]
        pairs = [(a, b) for a in range(2, n) for b in range(2, a)]
    else:
        n, along = draw(st.integers(4, 10)), []
        pairs = [(a, b) for a in range(n) for b in range(a)]
    density = draw(st.sampled_from([0.2, 0.4, 0.6]))
    across = [link for link in pairs if rng.random() < density]
    network = from_links(n, along + across)
    light = rng.integers(least, draw(st.sampled_from([3, 20])), len(network.who))
    weight = light + 10.0 * _is_one_of(network, along)
    some = draw(st.sampled_from([0.0, 0.05]))
    closed = Closed(rng.random(n) < some, rng.random(len(network.who)) < some)
    closed.rows[:2] = False
    return network, weight, closed


def _is_one_of(network: Network, links: list[tuple[int, int]]) -> np.ndarray:
    wanted = {*links, *((b, a) for a, b in links)}
    ends = ((a, int(b)) for a in range(network.n) for b in network.neighbours(a))
    return np.array([link in wanted for link in ends], np.bool_)


def links_left(network: Network, weight: Doubles, closed: Closed) -> list[tuple[int, int, int]]:
    """(from, to, weight) of every place that is open, one by one."""
    found = []
    for a in range(network.n):
        for k in range(int(network.start[a]), int(network.start[a + 1])):
            b = int(network.who[k])
            if not (closed.rows[a] or closed.rows[b] or closed.places[k]):
                found.append((a, b, int(weight[k])))
    return found


def with_two_doors(
    network: Network, weight: Doubles, closed: Closed, source: int, wanted: dict[int, int]
) -> nx.DiGraph:
    """The flow network whose flows from "S" to "T" are sets of node-disjoint paths."""
    graph = nx.DiGraph()
    graph.add_nodes_from(["S", "T"])
    graph.add_edge("S", (source, "out"), capacity=sum(wanted.values()), weight=0)
    for i in range(network.n):
        if i in wanted:
            graph.add_edge((i, "in"), "T", capacity=wanted[i], weight=0)
        elif i != source:
            graph.add_edge((i, "in"), (i, "out"), capacity=1, weight=0)
    for a, b, heavy in links_left(network, weight, closed):
        graph.add_edge((a, "out"), (b, "in"), capacity=1, weight=heavy)
    return graph
