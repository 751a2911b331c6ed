"""Waxman networks: BRITE's counts, the links of joining nodes, and bandwidths."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.portable_math import exponential, logarithm
from halfway.world.underlays.underlay import SPEED_OF_LIGHT_KM_S, Underlay
from halfway.world.underlays.waxman import Waxman, waxman
from halfway.world.underlays.waxman_growth import grow

# Four places on a line, the next node at 0: the odds of a link are e^-(1, 2, 3, 4).
PLACES = np.array([[1.0, 0], [2.0, 0], [3.0, 0], [4.0, 0], [0.0, 0]])


def joined(network: Network) -> nx.Graph:
    graph = nx.Graph()
    ends = np.repeat(np.arange(network.n), network.degree)
    graph.add_edges_from(zip(ends.tolist(), network.who.tolist(), strict=True))
    return graph


@given(st.floats(-740, 690))
def test_the_exponential_is_the_exponential(x: float) -> None:
    assert exponential(x) == pytest.approx(math.exp(x), rel=5e-16, abs=1e-308)


@given(st.floats(1e-300, 1e300))
def test_the_logarithm_is_the_logarithm(x: float) -> None:
    assert logarithm(x) == pytest.approx(math.log(x), rel=5e-16, abs=2e-16)


@pytest.fixture(scope="module")
def paper() -> Underlay:
    """The paper's underlay [uas §5]: 10,000 nodes, AS-level Waxman, uniform bandwidths."""
    return waxman(Waxman(), 1)


def test_ten_thousand_nodes_have_twenty_thousand_links(paper: Underlay) -> None:
    assert (paper.network.n, paper.network.links) == (10_000, 20_000)


def test_ten_thousand_nodes_have_no_cut_node(paper: Underlay) -> None:
    assert nx.is_biconnected(joined(paper.network))


def test_a_third_of_the_nodes_has_only_the_two_links_of_its_joining(paper: Underlay) -> None:
    degree = paper.network.degree
    assert degree.min() == 2
    assert 0.32 < np.mean(degree == 2) < 0.35


def test_nodes_are_at_distinct_whole_numbers_and_delays_are_those_of_light(paper: Underlay) -> None:
    position = paper.network.position
    assert position is not None
    assert len(np.unique(position, axis=0)) == 10_000
    assert (position == np.floor(position)).all()
    assert (position.min(), position.max()) == (0, 999)
    length = np.hypot(*(position[paper.owner] - position[paper.network.who]).T)
    assert paper.delay_s == pytest.approx(length / SPEED_OF_LIGHT_KM_S, rel=1e-12)


def test_bandwidths_are_uniform_from_10_to_1024_mbps(paper: Underlay) -> None:
    mbps = np.sort(paper.bandwidth_bps[paper.owner < paper.network.who]) / 1e6
    uniform = np.linspace(10, 1024, len(mbps))
    assert np.abs(mbps - uniform).max() / 1014 < 1.63 / math.sqrt(len(mbps))  # Kolmogorov, 1 %


@given(st.integers(1, 4), st.integers(0, 30), st.integers(0, 2**64 - 1))
def test_every_node_adds_m_links(m: int, more: int, seed: int) -> None:
    n = m * (m + 1) + m + more  # enough for the first m nodes to find m others each
    network = waxman(Waxman(n=n, m=m), seed).network
    assert network.links <= n * m
    assert network.links >= (n - m) * m
    assert nx.is_connected(joined(network))
    names = np.array(network.labels, np.int64)
    for row in range(n):
        if names[row] >= m:  # the first m nodes come back to it at the end, with earlier names
            assert np.count_nonzero(names[network.neighbours(row)] < names[row]) >= m


def test_the_odds_of_a_link_fall_by_e_with_the_reach() -> None:
    counts = np.zeros(4)
    ends = np.empty((5, 2), np.int64)
    for seed in range(4000):
        grow(PLACES, 1, 1.0, np.uint64(seed * 7919), ends)
        counts[ends[3, 1]] += 1  # links 1-, 2-, 3-, 4-; the last closes from node 0
    odds = np.exp(-PLACES[:4, 0])
    expected = 4000 * odds / odds.sum()
    assert ((counts - expected) ** 2 / expected).sum() < 11.34  # chi square, 3 degrees, 1 %


def test_without_a_node_in_reach_the_nearest_is_linked() -> None:
    ends = np.empty((5, 2), np.int64)
    for seed in range(20):
        grow(PLACES, 1, 1e-3, np.uint64(seed), ends)
        assert ends[:4].tolist() == [[1, 0], [2, 1], [3, 2], [4, 0]]


def test_heavy_tailed_places_concentrate_in_some_squares() -> None:
    def largest_crowd(placement: str) -> int:
        position = waxman(Waxman(n=2000, placement=placement), 3).network.position
        assert position is not None
        assert len(np.unique(position, axis=0)) == 2000
        return int(np.unique(position // 100, axis=0, return_counts=True)[1].max())

    assert largest_crowd("random") < 45 < largest_crowd("heavy-tailed")


def test_other_bandwidths() -> None:
    def mbps(kind: str) -> np.ndarray:
        given = Waxman(n=3000, bandwidth=kind, least_mbps=10, most_mbps=1000)
        return waxman(given, 4).bandwidth_bps / 1e6

    assert set(mbps("constant")) == {10.0}
    tail = mbps("heavy-tailed")
    assert 10 <= tail.min() < 10.1
    assert tail.max() <= 1000
    for share in (0.5, 0.9):  # quantiles of a Pareto law of exponent 1.2 between 10 and 1000
        expected = 10 * (1 - share * (1 - 0.01**1.2)) ** (-1 / 1.2)
        assert np.quantile(tail, share) == pytest.approx(expected, rel=0.1)
    assert mbps("exponential").mean() == pytest.approx(10, rel=0.05)


def test_alpha_divides_out() -> None:
    one, other = (waxman(Waxman(n=100, alpha=alpha), 1).network.who for alpha in (0.05, 1.0))
    assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"n": 3}, "n = 3: expected at least 2 m = 4"),
        ({"n": 200, "side": 10}, r"n = 200: expected at most side\^2 = 100"),
        ({"m": 0}, "m = 0"),
        ({"alpha": 0}, "alpha = 0"),
        ({"beta": math.nan}, "beta = nan"),
        ({"square": 2000}, "square = 2000"),
        ({"placement": "tidy"}, "placement = 'tidy': expected one of random, heavy-tailed"),
        ({"bandwidth": "wide"}, "bandwidth = 'wide'"),
        ({"least_mbps": 0}, "least_mbps = 0"),
        ({"most_mbps": 1}, "most_mbps = 1"),
    ],
)
def test_parameters_out_of_range_are_refused(options: dict[str, object], named: str) -> None:
    with pytest.raises(Problem, match=named):
        waxman(Waxman(**options), 1)  # type: ignore[arg-type]
    with pytest.raises(Problem, match="seed = -1"):
        waxman(Waxman(), -1)
