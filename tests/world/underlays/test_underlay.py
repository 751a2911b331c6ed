"""Underlays: links by place, and the same bytes with and without a compiler."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given

from halfway.problem import Problem
from halfway.world.graphs.link_list import LinkList
from halfway.world.graphs.network import Network
from halfway.world.underlays.routes import Closed, Doubles
from halfway.world.underlays.underlay import Underlay, by_place, underlay_of
from tests.networks import from_links, line
from tests.world.underlays.weighted import weighted

DIGEST = """
import hashlib
from halfway.world.underlays.disjoint import disjoint_pair
from halfway.world.underlays.routes import shortest
from halfway.world.underlays.waxman import Waxman, waxman
digest = hashlib.sha256()
for kind in ({}, {"placement": "heavy-tailed", "bandwidth": "heavy-tailed", "beta": 0.01},
             {"bandwidth": "exponential", "m": 3}):
    underlay = waxman(Waxman(n=60, **kind), 5)
    tree = shortest(underlay.network, underlay.delay_s, 0)
    pair = disjoint_pair(underlay.network, underlay.delay_s, 0, 33)
    for array in (underlay.network.who, underlay.delay_s, underlay.bandwidth_bps, tree.weight,
                  tree.parent, *pair):
        digest.update(array.tobytes())
print(digest.hexdigest()[:16])
"""
GOLDEN = "09270261fbbc9974"


def uniform(network: Network) -> Underlay:
    ones = np.ones(len(network.who))
    return Underlay(network, ones, ones)


@given(weighted())
def test_both_directions_of_a_link_know_each_other(made: tuple[Network, Doubles, Closed]) -> None:
    underlay = uniform(made[0])
    who, owner, back = underlay.network.who, underlay.owner, underlay.opposite
    assert (owner[back] == who).all()
    assert (who[back] == owner).all()
    assert (underlay.link == underlay.link[back]).all()
    assert sorted(set(underlay.link.tolist())) == list(range(underlay.network.links))
    for k in range(len(who)):
        assert underlay.place(int(owner[k]), int(who[k])) == k


def test_of_repeated_links_the_fastest_and_the_widest_count() -> None:
    ends = np.array([[0, 1], [1, 0], [1, 2], [2, 2]])
    listed = LinkList(["a", "b", "c"], ends, np.full((3, 2), np.nan), {})
    delay_s, bandwidth_bps = np.array([3.0, 2.0, 5.0, 0.1]), np.array([7.0, np.nan, np.nan, 1.0])
    underlay = underlay_of(listed, delay_s, bandwidth_bps, "three")
    row = underlay.network.row
    assert underlay.delay_s[underlay.place(row("a"), row("b"))] == 2.0
    assert underlay.bandwidth_bps[underlay.place(row("b"), row("a"))] == 7.0
    assert underlay.delay_s[underlay.place(row("c"), row("b"))] == 5.0
    assert underlay.bandwidth_bps[underlay.place(row("c"), row("b"))] == np.inf


def test_an_unlisted_link_has_no_value() -> None:
    value = by_place(line(3), np.array([[0, 1]]), np.array([4.0]))
    assert np.array_equal(value, [4.0, 4.0, np.nan, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    ("delay", "bandwidth", "named"),
    [
        ([1, 1, 1], [1, 1], "delay_s: expected one value for each of 2"),
        ([1, 2], [1, 1], "delay_s: expected the same value in both"),
        ([-1, -1], [1, 1], "delay_s: expected finite"),
        ([1, 1], [0, 0], "bandwidth_bps: expected positive"),
    ],
)
def test_values_out_of_range_are_refused(
    delay: list[float], bandwidth: list[float], named: str
) -> None:
    with pytest.raises(Problem, match=named):
        Underlay(line(2), np.array(delay, np.float64), np.array(bandwidth, np.float64))


def test_rows_that_are_not_neighbours_have_no_place() -> None:
    with pytest.raises(Problem, match="no link joins node 0 and node 2"):
        uniform(from_links(3, [(0, 1), (1, 2)])).place(0, 2)


@pytest.mark.parametrize("compiled", ["0", "1"])
def test_an_underlay_and_its_routes_are_the_same_bytes(compiled: str) -> None:
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DIGEST],
        env={**os.environ, "NUMBA_DISABLE_JIT": compiled},
        capture_output=True,
        text=True,
        check=True,
    )
    assert child.stdout.strip() == GOLDEN
