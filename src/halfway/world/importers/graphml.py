"""GraphML reader: nodes, links, positions and link speeds; errors give line and column."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from halfway.problem import Problem
from halfway.world.graphs.import_remarks import DIRECTIONS
from halfway.world.graphs.link_list import LinkList
from halfway.world.importers.xml_file import XmlReader

_PLANE = ("x", "y")
_POSITION_KEYS = (_PLANE, ("longitude", "latitude"), ("lon", "lat"))
_SPEED = "linkspeedraw"  # bits a second; the key of the Internet Topology Zoo


class GraphmlLinks(NamedTuple):
    """The links of a GraphML file with their speeds."""

    listed: LinkList
    speed_bps: np.ndarray[tuple[int], np.dtype[np.float64]]  # [links] as listed; NaN: not given
    geographic: bool  # positions are longitude and latitude in degrees, not x and y
    unused: tuple[str, ...]  # names of the data of links that the reader does not use


def graphml_links(path: Path) -> GraphmlLinks:
    """Read nodes, links, positions and the edge key LinkSpeedRaw of a GraphML file.

    Positions are the node keys x and y or Longitude and Latitude, in the file's units. Directions
    are dropped and counted. Other data are dropped. Raises Problem with file, line and column.
    """
    reader = _Reader(path)
    reader.read()
    listed = reader.listed()
    geographic = reader.pair() != _PLANE
    return GraphmlLinks(listed, np.array(reader.speeds), geographic, tuple(reader.unused))


class _Reader(XmlReader):
    """A GraphML parser. It resolves links last, as a file may have links before their nodes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.nodes: dict[str, dict[str, float]] = {}  # id -> key name -> value
        self.links: list[tuple[str, str, str]] = []  # source, target, file:line:column
        self.speeds: list[float] = []  # of each link, NaN where none is given
        self.position_keys: dict[str, str] = {}  # key id -> x, y, longitude…
        self.speed_keys: set[str] = set()  # key ids of speeds
        self.link_keys: dict[str, str] = {}  # key id -> name of other data of links
        self.unused: dict[str, None] = {}  # the names of these data that a link has
        self.graphs, self.is_directed, self.directed = 0, False, 0
        self.open_nodes: list[str] = []  # a node may contain a graph with nodes
        self.key = ""

    def read(self) -> None:
        super().read()
        if not self.graphs:
            raise Problem("the file has no <graph>: expected one", where=str(self.path))

    def started(self, kind: str, attributes: dict[str, str]) -> None:
        if not self.inside and kind != "graphml":
            raise Problem(f"root element <{kind}>: expected <graphml>", where=self.here())
        if kind == "graph" and self.inside == ["graphml"]:
            self.graphs += 1
            self.is_directed = attributes.get("edgedefault") == "directed"
            if self.graphs > 1:
                raise Problem("a second <graph>: expected only one", where=self.here())
        elif kind == "key":
            self.key_started(attributes)
        elif kind == "node":
            name = self.attribute("node", "id", attributes)
            if name in self.nodes:
                what = f"node '{name}' occurs twice: expected one <node> for each id"
                raise Problem(what, where=self.here())
            self.nodes[name] = {}
            self.open_nodes.append(name)
        elif kind == "edge":
            ends = [self.attribute("edge", end, attributes) for end in ("source", "target")]
            self.links.append((ends[0], ends[1], self.here()))
            self.speeds.append(math.nan)
            own = attributes.get("directed")
            self.directed += self.is_directed if own is None else own == "true"
        elif kind == "data":
            self.key = self.attribute("data", "key", attributes)

    def key_started(self, attributes: dict[str, str]) -> None:
        name, target = attributes.get("attr.name", "").lower(), attributes.get("for", "all")
        if target in ("node", "all") and any(name in pair for pair in _POSITION_KEYS):
            self.position_keys[self.attribute("key", "id", attributes)] = name
        if target in ("edge", "all"):
            key = self.attribute("key", "id", attributes)
            if name == _SPEED:
                self.speed_keys.add(key)
            else:
                self.link_keys[key] = attributes.get("attr.name", key)

    def ended(self, kind: str, text: str) -> None:
        if kind == "node":
            self.open_nodes.pop()
        if kind != "data":
            return
        if self.inside[-1] == "node" and self.key in self.position_keys:
            owner = f"node '{self.open_nodes[-1]}'"
            name = self.position_keys[self.key]
            self.nodes[self.open_nodes[-1]][name] = self.finite_number(name, text, f" of {owner}")
        elif self.inside[-1] == "edge" and self.key in self.speed_keys:
            self.speeds[-1] = self.finite_number("LinkSpeedRaw", text, " of an edge")
        elif self.inside[-1] == "edge" and self.key in self.link_keys:
            self.unused[self.link_keys[self.key]] = None

    def listed(self) -> LinkList:
        index = {name: i for i, name in enumerate(self.nodes)}
        ends = np.empty((len(self.links), 2), np.int64)
        for k, (source, target, place) in enumerate(self.links):
            for side, name in enumerate((source, target)):
                if name not in index:
                    what = f"an edge leads to the unknown node '{name}': expected a <node>"
                    raise Problem(what, where=place)
                ends[k, side] = index[name]
        if not self.links:
            raise Problem(
                "the file has no links: expected an <edge> for each link", where=str(self.path)
            )
        return LinkList(list(index), ends, self.positions(), {DIRECTIONS: self.directed})

    def pair(self) -> tuple[str, str]:
        # The pair of keys that most nodes have; positions of the other nodes are unknown.
        def known(pair: tuple[str, str]) -> int:
            return sum(pair[0] in values and pair[1] in values for values in self.nodes.values())

        return max(_POSITION_KEYS, key=known)

    def positions(self) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        x, y = self.pair()
        found = np.full((len(self.nodes), 2), np.nan)
        for i, values in enumerate(self.nodes.values()):
            if x in values and y in values:
                found[i] = values[x], values[y]
        return found
