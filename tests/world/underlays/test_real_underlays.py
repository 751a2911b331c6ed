"""The real underlays that HALFWAY_DATA names, against the counts of their publishers."""

from pathlib import Path

import numpy as np
import pytest

from halfway.world.importers.brite import read_brite
from halfway.world.importers.underlay_file import read_underlay
from halfway.world.underlays.disjoint import disjoint_pair
from halfway.world.underlays.underlay import SPEED_OF_LIGHT_KM_S

ROCKETFUEL = [("1221", 108, 153, 1, 17), ("1239", 315, 972, 1, 64), ("3257", 161, 328, 3, 47)]
# The last is what a delay's digits leave open, in km: Java writes all, C++ hundredths of a ms.
BRITE = [("ASWaxman_50", 50, 100, 1e-4), ("RTWaxman20CONS", 20, 40, 1.51)]


@pytest.mark.parametrize(("number", "n", "links", "median", "most"), ROCKETFUEL)
def test_rocketfuel(data: Path, number: str, n: int, links: int, median: int, most: int) -> None:
    underlay = read_underlay(data / "rocketfuel" / f"AS{number}_latencies.intra", delay_ms="3")
    assert (underlay.network.n, underlay.network.links) == (n, links)
    delay_ms = underlay.delay_s * 1e3
    assert (np.median(delay_ms), delay_ms.max()) == (median, most)


@pytest.mark.parametrize(("name", "n", "links"), [("Geant2012", 40, 61), ("Kdl", 754, 895)])
def test_topology_zoo(data: Path, name: str, n: int, links: int) -> None:
    underlay = read_underlay(data / "topology_zoo" / f"{name}.graphml")
    assert (underlay.network.n, underlay.network.links) == (n, links)
    assert 0 < underlay.delay_s.max() * SPEED_OF_LIGHT_KM_S < 20_038  # half the equator
    assert np.isfinite(underlay.bandwidth_bps).any() == (name == "Geant2012")


def test_as_graph(data: Path) -> None:
    underlay = read_underlay(data / "as_level" / "as-caida20070917.txt.gz")
    network = underlay.network
    assert (network.n, network.links) == (8_020, 18_203)
    leaf = int(np.flatnonzero(network.degree == 1)[0])
    assert disjoint_pair(network, underlay.delay_s, leaf, (leaf + 4_000) % network.n) is None


@pytest.mark.parametrize(("name", "n", "links", "digits"), BRITE)
def test_brite(data: Path, name: str, n: int, links: int, digits: float) -> None:
    underlay, model = read_brite(data / "brite" / f"{name}.brite")
    assert model is not None
    assert (underlay.network.n, underlay.network.links) == (n, links) == (model.n, model.m * n)
    position = underlay.network.position
    assert position is not None
    length = np.hypot(*(position[underlay.owner] - position[underlay.network.who]).T)
    delay_km = underlay.delay_s * SPEED_OF_LIGHT_KM_S
    assert np.abs(delay_km - length).max() < digits
