"""Tests of JSON topologies: NetJSON, OLSR, batman-adv, GeoJSON, and malformed items."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.importers.link_table import LinkColumns
from halfway.world.importers.network_file import read_network
from tests.world.importers.test_network_file import links, where

NETJSON = {
    "type": "NetworkGraph", "protocol": "olsrv2", "version": "0.15", "metric": "ff_dat_metric",
    "nodes": [
        {"id": "a", "location": {"lng": 8.5, "lat": 47.0}},
        {"id": "b", "properties": {"lon": 8.6, "lat": 47.1}},
        {"id": "c", "lon": 8.7, "lat": 47.2},
    ],
    "links": [
        {"source": "a", "target": "b", "cost": 1.5, "properties": {"tq": 0.9}},
        {"source": "b", "target": "a", "cost": 2.0, "properties": {"tq": 0.8}},
        {"source": "b", "target": "c", "cost": 9, "properties": {"tq": 0.2}},
        {"source": "c", "target": "b", "cost": 9, "properties": {"tq": 0.3}},
    ],
}  # fmt: skip
OLSR = {
    "topology": [
        {"lastHopIP": "10.0.0.1", "destinationIP": "10.0.0.2", "linkQuality": 0.9,
         "neighborLinkQuality": 1.0, "tcEdgeCost": 1137},
        {"lastHopIP": "10.0.0.2", "destinationIP": "10.0.0.3", "linkQuality": 0.1,
         "neighborLinkQuality": 1.0, "tcEdgeCost": 9999},
    ],
    "systemTime": 1,
}  # fmt: skip
VIS = {
    "source_version": "2014.3.0",
    "vis": [
        {"primary": "a", "secondary": ["a2"],
         "neighbors": [{"router": "a2", "neighbor": "b", "metric": "1.250"}]},
        {"primary": "b", "neighbors": [{"router": "b", "neighbor": "a2", "metric": "1.000"},
                                       {"router": "b", "neighbor": "c", "metric": "4.000"}]},
    ],
}  # fmt: skip
VIS_LINES = [
    {"primary": "a"}, {"secondary": "a2", "of": "a"},
    {"router": "a2", "neighbor": "b", "label": "1.000"},
    {"router": "b", "gateway": "fe:00", "label": "TT"},
]  # fmt: skip
ALFRED = {
    "02:00": {"node_id": "north", "batadv": {"02:01": {"neighbours": {"03:01": {"tq": 255}}}}},
    "03:00": {"node_id": "south", "batadv": {"03:01": {"neighbours": {"02:01": {"tq": 128}}}}},
}
POINTS: dict[str, Any] = {
    "type": "FeatureCollection",
    "features": [
        {"type": "Feature", "id": 7, "geometry": {"type": "Point", "coordinates": [8.0, 47.0]}},
        {"type": "Feature", "properties": {"name": "hill"},
         "geometry": {"type": "Point", "coordinates": [8.1, 47.1, 400.0]}},
        {"type": "Feature", "properties": {"q": 0.5},
         "geometry": {"type": "LineString", "coordinates": [[8, 47], [8.05, 47.2], [8.1, 47.1]]}},
        {"type": "Feature", "properties": {"source": 7, "target": "hill"},
         "geometry": {"type": "LineString", "coordinates": []}},
        {"type": "Feature", "properties": None,
         "geometry": {"type": "MultiLineString", "coordinates": [[[8.1, 47.1], [9, 48]]]}},
        {"type": "Feature", "geometry": None},
    ],
}  # fmt: skip


def read(folder: Path, plain: Any, name: str = "mesh.json", **given: Any) -> Network:
    (folder / name).write_text(plain if isinstance(plain, str) else json.dumps(plain))
    return read_network(folder / name, **given)


def test_netjson_has_links_qualities_and_positions(tmp_path: Path) -> None:
    network = read(tmp_path, NETJSON)
    assert links(network) == {("a", "b"), ("b", "c")}
    assert set(where(network)) == {"a", "b", "c"}
    assert links(read(tmp_path, NETJSON, columns=LinkColumns(quality="tq", threshold=0.5))) == {
        ("a", "b")
    }
    collection = {"type": "NetworkCollection", "collection": [{"type": "NetworkRoutes"}, NETJSON]}
    assert links(read(tmp_path, collection)) == {("a", "b"), ("b", "c")}


def test_olsr_has_the_quality_of_both_directions(tmp_path: Path) -> None:
    assert read(tmp_path, OLSR).n == 3
    both = "linkQuality,neighborLinkQuality"
    near = read(tmp_path, OLSR, columns=LinkColumns(quality=both, threshold=0.5))
    assert links(near) == {("10.0.0.1", "10.0.0.2")}
    one = {"links": [{"localIP": "1", "remoteIP": "2", "linkQuality": 1.0}]}
    assert links(read(tmp_path, one)) == {("1", "2")}
    two = {"edge": [{"node": "1", "edge": "2", "domain_metric_out_raw": "1024"}]}
    assert links(read(tmp_path, two)) == {("1", "2")}


def test_batman_interfaces_belong_to_their_router(tmp_path: Path) -> None:
    network = read(tmp_path, VIS)
    assert links(network) == {("a", "b"), ("b", "c")}
    assert links(read(tmp_path, VIS, columns=LinkColumns(quality="tq", threshold=0.75))) == {
        ("a", "b")
    }
    lines = "\n".join(map(json.dumps, VIS_LINES))
    assert links(read(tmp_path, lines)) == {("a", "b")}


def test_neighbours_of_alfred_have_node_ids(tmp_path: Path) -> None:
    assert links(read(tmp_path, ALFRED)) == {("north", "south")}
    assert links(read(tmp_path, ALFRED, columns=LinkColumns(quality="tq", threshold=100))) == {
        ("north", "south")
    }
    with pytest.raises(Problem, match="no link has tq > 200 in both directions"):
        read(tmp_path, ALFRED, columns=LinkColumns(quality="tq", threshold=200))


def test_points_are_nodes_and_lines_are_links(tmp_path: Path) -> None:
    network = read(tmp_path, POINTS, "map.geojson")
    corner = "9.000000,48.000000"
    assert links(network) == {("7", "hill"), (corner, "hill")}
    assert set(where(network)) == {"7", "hill", corner}


def test_a_table_takes_positions_from_geojson(tmp_path: Path) -> None:
    (tmp_path / "map.geojson").write_text(json.dumps(POINTS))
    (tmp_path / "links.csv").write_text("a,b\n7,hill\n")
    network = read_network(tmp_path / "links.csv", positions=tmp_path / "map.geojson")
    assert set(where(network)) >= {"7", "hill"}


def test_a_brite_file_is_a_network(tmp_path: Path) -> None:
    head = "Topology: ( 2 Nodes, 1 Edges )\nModel (3 - ASWaxman):  2 9 9 1  1  0.1 0.2 1 1 1 1\n\n"
    body = "Nodes: ( 2 )\n0\t1\t1\t1\t1\t0\tAS\n1\t4\t5\t1\t1\t1\tAS\n\nEdges: ( 1 )\n"
    network = read(tmp_path, head + body + "0\t0\t1\t5.0\t-1\t10\t0\t1\tE_AS\tU\n", "net.brite")
    assert links(network) == {("0", "1")}
    assert where(network) == {"0": (1.0, 1.0), "1": (4.0, 5.0)}
    with pytest.raises(Problem, match="has no columns"):
        read_network(tmp_path / "net.brite", LinkColumns(quality="q"))


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ('{"type": "NetworkGraph",\n "links": [', r"mesh.json:2:\d+: invalid JSON"),
        ("[1, 2]", "unknown JSON: expected NetJSON"),
        ({"type": "NetworkGraph", "links": {}}, "links: expected a list"),
        ({"type": "NetworkGraph", "links": [3]}, r"links\[0\]: expected an object"),
        ({"type": "NetworkGraph", "links": [{"source": "a"}]}, r"links\[0\].target: the field"),
        ({"type": "NetworkGraph", "links": []}, "the file has no links"),
        ({"type": "NetworkCollection", "collection": []}, "expected a NetworkGraph"),
        ({"type": "NetworkGraph", "nodes": [{"id": "a"}, {"id": "a"}],
          "links": [{"source": "a", "target": "b"}]}, r"nodes\[1\].id: node a has two positions"),
        ({"topology": [{"lastHopIP": None, "destinationIP": "b"}]}, r"topology\[0\].source: the f"),
        ({"vis": [{"primary": "a", "neighbors": 3}]}, r"vis\[0\].neighbors: expected a list"),
        ({"vis": [{"primary": "a", "secondary": 3}]}, r"secondary: expected a list"),
        ({"a": {"batadv": {"i": 3}}}, "neighbours: expected an object"),
        ({"type": "Feature", "geometry": {"type": "Point", "coordinates": ["a", 1]}},
         "expected longitude and latitude"),
        ({"type": "Feature", "geometry": {"type": "LineString", "coordinates": [[1, 2]]}},
         "at least two points"),
        ("[" * 100_000, "nested too deeply"),
    ],
)  # fmt: skip
def test_a_malformed_file_is_a_problem(plain: Any, expected: str, tmp_path: Path) -> None:
    with pytest.raises(Problem, match=expected):
        read(tmp_path, plain)


def test_a_document_type_is_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><graphml>&b;</graphml>'
    (tmp_path / "bomb.graphml").write_text(bomb)
    with pytest.raises(Problem, match=r"bomb.graphml:1:\d+: the file has a document type"):
        read_network(tmp_path / "bomb.graphml")


def test_degrees_become_metres(tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    nodes = [{"id": "a", "lon": 13.0, "lat": 0.0}, {"id": "b", "lon": 13.001, "lat": 0.0}]
    links = [{"source": "a", "target": "b", "cost": 1.0}]
    path.write_text(json.dumps({"type": "NetworkGraph", "nodes": nodes, "links": links}))
    network = read_network(path)
    assert network.position is not None
    assert np.ptp(network.position[:, 0]) == pytest.approx(111.195, abs=0.01)
    assert "projected to metres" in " ".join(network.remarks)


@pytest.mark.parametrize("links", ["links", "edges"])
def test_node_link_data_of_networkx(tmp_path: Path, links: str) -> None:
    graph = nx.relabel_nodes(nx.star_graph(5), {0: "hub é", 5: "leaf 5"})
    graph.add_node("alone")
    for place, node in enumerate(graph):
        graph.nodes[node].update(x=1.5 * place, y=-2.0)
    for a, b in graph.edges:
        graph.edges[a, b]["tq"] = 0.9 if b == "leaf 5" else 0.3
    path = tmp_path / "star.json"
    path.write_text(json.dumps(nx.node_link_data(graph, edges=links)))
    network = read_network(path)
    assert (network.n, network.links) == (7, 5)
    assert network.position is not None
    assert sorted(network.position[:, 0].tolist()) == [1.5 * place for place in range(7)]
    assert read_network(path, LinkColumns(quality="tq", threshold=0.5)).links == 1
    assert not network.left_out
    one_way = nx.node_link_data(graph.to_directed(), edges=links)  # a link in each direction
    path.write_text(json.dumps(one_way))
    network = read_network(path)
    assert network.links == 5
    assert network.left_out == {"directions of links": 10, "repeated links": 5}
    assert network.remarks == ("star.json: left out 10 directions of links, 5 repeated links",)
    torn = nx.node_link_data(graph, edges=links)
    del torn[links][2]["target"]
    path.write_text(json.dumps(torn))
    with pytest.raises(Problem, match=rf"star.json: {links}\[2\].target: the field is empty"):
        read_network(path)
