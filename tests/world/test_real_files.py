"""Tests of readers with the real networks in HALFWAY_DATA, against their published counts."""

from pathlib import Path

import numpy as np
import pytest

from halfway.world.graphs.components import components
from halfway.world.graphs.degrees import degree_statistics
from halfway.world.graphs.network import Network
from halfway.world.graphs.shortest_paths import diameter
from halfway.world.importers.link_table import LinkColumns
from halfway.world.importers.network_file import read_network


def parts(network: Network) -> tuple[int, int]:
    """Return the number of components and the nodes of the largest."""
    sizes = np.bincount(components(network))
    return len(sizes), int(sizes.max())


GRENOBLE = [(0, 12_099, 34, 70, 132), (0.5, 8_892, 23, 52, 91), (0.9, 5_863, 15, 34, 74)]


@pytest.mark.parametrize(("threshold", "links", "least", "mean", "most"), GRENOBLE)
def test_grenoble(
    data: Path, threshold: float, links: int, least: int, mean: int, most: int
) -> None:
    network = read_network(
        data / "iotlab" / "grenoble_links.csv.gz",
        LinkColumns(quality="pdr_mean", threshold=threshold),
        positions=data / "iotlab" / "grenoble_motes.csv",
    )
    degree = degree_statistics(network)
    assert (network.n, network.links, parts(network)) == (344, links, (1, 344))
    assert (degree.least, round(degree.mean), degree.most) == (least, mean, most)
    assert network.position is not None
    assert np.ptp(network.position, axis=0).round().tolist() == [62, 26]
    if threshold == 0.9:
        assert diameter(network) == 9


@pytest.mark.parametrize(
    ("site", "n", "links"), [("lille", 224, 24_973), ("strasbourg", 61, 1_554)]
)
def test_one_room(data: Path, site: str, n: int, links: int) -> None:
    path = data / "iotlab" / f"{site}_links.csv.gz"
    network = read_network(path, LinkColumns(quality="pdr_mean", threshold=0.9))
    assert (network.n, network.links) == (n, links)


@pytest.mark.parametrize(
    ("threshold", "links", "giant"), [(0, 1116, 53), (0.1, 401, 53), (0.25, 202, 53), (0.5, 62, 22)]
)
def test_intel_lab(data: Path, threshold: float, links: int, giant: int) -> None:
    folder = data / "intel_lab"
    path, places = folder / "connectivity.txt", folder / "mote_locs.txt"
    columns = LinkColumns(quality="3", threshold=threshold)
    network = read_network(path, columns, positions=places, partial_positions=True)
    assert (network.n, network.links) == (55, links)  # 54 motes and the base station
    assert network.left_out["lines without a quality"] == 1  # line 2918
    largest = read_network(path, columns, positions=places, partial_positions=True, largest=True)
    assert largest.n == giant
    assert largest.position is not None


FREIFUNK = {  # nodes, links, components, giant; wifi alone: nodes, links
    "aachen": (2113, 3832, 139, 1268, 855, 1001),
    "berlin": (976, 1148, 375, 516, 385, 358),
    "cologne_bonn_area": (310, 646, 29, 282, 205, 428),
    "leipzig": (279, 330, 116, 144, 157, 295),
    "munich": (1808, 2228, 143, 227, 690, 615),
}


@pytest.mark.parametrize("city", FREIFUNK)
def test_freifunk(data: Path, city: str) -> None:
    path = data / "freifunk" / f"{city}_links.csv"
    places = data / "freifunk" / f"{city}_nodes.csv"
    network = read_network(path, positions=places, partial_positions=True)
    wifi = read_network(path, LinkColumns(only={"type": "wifi"}))
    found = (network.n, network.links, *parts(network), wifi.n, wifi.links)
    assert found == FREIFUNK[city]
    ways = "lq,nlq" if city == "berlin" else "tq_ab,tq_ba"
    good = read_network(path, LinkColumns(only={"type": "wifi"}, quality=ways, threshold=0.5))
    assert 0 < good.links < wifi.links


ZOO = {  # nodes, links, components, giant, most neighbours, nodes without a position
    "Abilene": (11, 14, 1, 11, 3, 0),
    "AttMpls": (25, 56, 1, 25, 10, 0),
    "Ntt": (47, 63, 16, 32, 12, 0),
    "DialtelecomCz": (193, 151, 56, 138, 6, 15),
    "Colt": (153, 177, 1, 153, 18, 4),
    "Kdl": (754, 895, 1, 754, 7, 28),
}


@pytest.mark.parametrize("name", ZOO)
def test_topology_zoo(data: Path, name: str) -> None:
    network = read_network(data / "topology_zoo" / f"{name}.graphml", partial_positions=True)
    unplaced = network.left_out.get("nodes without a position", 0)
    assert (network.position is None) == (unplaced > 0)
    most = int(network.degree.max())
    assert (network.n, network.links, *parts(network), most, unplaced) == ZOO[name]


@pytest.mark.parametrize(
    ("path", "n", "links", "loops"),
    [
        ("as_level/as20000102.txt.gz", 6_474, 12_572, 1_323),
        ("as_level/as-caida20070917.txt.gz", 8_020, 18_203, 0),
        ("as_level/oregon1_010331.txt.gz", 10_670, 22_002, 0),
        ("rocketfuel/AS1239_latencies.intra", 315, 972, 0),
        ("rocketfuel/AS1221_weights.intra", 108, 153, 0),
    ],
)
def test_wired_networks(data: Path, path: str, n: int, links: int, loops: int) -> None:
    network = read_network(data / path)
    assert (network.n, network.links, network.left_out.get("loops", 0)) == (n, links, loops)


def test_a_brite_file_is_a_network(data: Path) -> None:
    network = read_network(data / "brite" / "ASWaxman_50.brite")
    degree = degree_statistics(network)
    assert (network.n, network.links, degree.least, degree.most) == (50, 100, 2, 10)
    assert network.position is not None
