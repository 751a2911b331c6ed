"""Reader of JSON topologies of four formats and GeoJSON, as tables of links and nodes.

NetJSON: a NetworkGraph, or the first one of a NetworkCollection (olsrd2's netjsoninfo writes it).
Node-link data: `nodes`, and `links` or `edges`, as networkx's node_link_data and D3 have them.
OLSR: `topology` or `links` of olsrd's jsoninfo, and `edge` of olsrd2's olsrv2info.
batman-adv: `batadv-vis -f jsondoc` or `-f json`, and neighbours from alfred or respondd.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from halfway.core.values.field_messages import plain_words
from halfway.problem import Problem
from halfway.world.importers.file_content import text
from halfway.world.importers.text_table import TextTable

JSON = (".json", ".geojson", ".netjson", ".jsonl")
_PLACES = (("lon", "lat"), ("lng", "lat"), ("longitude", "latitude"), ("x", "y"))
_EXPECTED = "expected NetJSON, node-link data, OLSR (jsoninfo), batman-adv (batadv-vis) or GeoJSON"


class ItemTable(TextTable):
    """A table of the items of a JSON file; errors name the item instead of a line."""

    def __init__(self, path: Path, columns: list[str], rows: list[tuple[str, list[str]]]) -> None:
        super().__init__(path, columns, [(k, row) for k, (_, row) in enumerate(rows)])
        self._names = [name for name, _ in rows]

    def problem(self, what: str, line: int, column: int | None = None) -> Problem:
        """Return a Problem of an item of the JSON topology, or of a field of it."""
        field = "" if column is None else f".{self.columns[column]}"
        return Problem(f"{self._names[line]}{field}: {what}", where=str(self.path))


class JsonTopology(NamedTuple):
    """The topology of a JSON file. The first two columns of a link table are the ends of the link.
    The first column of a node table is the id.
    """

    links: TextTable
    nodes: TextTable  # id, x, y or id, lon, lat; empty fields where unknown
    directed: int = 0  # links whose direction the file states


class JsonLink(NamedTuple):
    """A link of a JSON topology."""

    item: str  # its name in the file, such as links[3]
    source: Any
    target: Any
    values: Mapping[str, Any]  # further columns


class JsonNode(NamedTuple):
    """A node of a JSON topology; its coordinates are optional."""

    item: str
    name: Any
    place: tuple[Any, Any] = ("", "")


def json_topology(items: "Items") -> JsonTopology:
    """Return the JSON topology of any format but GeoJSON. Raises Problem with item and cause."""
    plain = items.plain
    kind = plain.get("type") if isinstance(plain, dict) else None
    if kind in ("NetworkGraph", "NetworkCollection"):
        return _netjson(items, plain)
    if isinstance(plain, dict):
        if named := _link_list(plain):
            return named(items, plain)
        if "vis" in plain:
            return _vis(items, items.listed(plain, "vis"))
        if any("batadv" in item for item in plain.values() if isinstance(item, dict)):
            return _neighbours(items, plain)
        if {"batadv"} <= plain.keys():
            return _neighbours(items, {"": plain})
    if isinstance(plain, list) and any(
        "router" in item for item in plain if isinstance(item, dict)
    ):
        return _vis_lines(items, plain)
    raise items.problem(f"unknown JSON: {_EXPECTED}")


def _link_list(plain: Mapping[str, Any]) -> Callable[["Items", Any], JsonTopology] | None:
    """Return the reader of a JSON object with a list of links: node-link data or OLSR; or None."""
    has_nodes = isinstance(plain.get("nodes"), list)
    for name in ("links", "edges") if has_nodes else _OLSR:
        if isinstance(plain.get(name), list):
            return partial(_of_graph, name=name) if has_nodes else partial(_olsr, name=name)
    return None


class Items:
    """The content of a JSON file, and its checked items. Raises Problem for other types."""

    def __init__(self, path: Path) -> None:
        self.path = path
        body = text(path)
        try:
            self.plain: Any = json.loads(body)
        except json.JSONDecodeError as error:
            self.plain = self._lines(body, error)
        except (RecursionError, ValueError):  # also integers of more than 4300 digits
            raise self.problem("the JSON is nested too deeply, or a number is too long") from None

    def _lines(self, body: str, error: json.JSONDecodeError) -> list[Any]:
        """Return the objects in the lines of a JSON topology; raise the error of the whole file if
        a line is no JSON.
        """
        try:
            return [json.loads(line) for line in body.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            where = f"{self.path}:{error.lineno}:{error.colno}"
            what = f"invalid JSON: {plain_words(error.msg.removesuffix(' starting at'))}"
            raise Problem(what, where=where, remedy="correct the file at this place") from None

    def problem(self, what: str) -> Problem:
        """Return a Problem of the JSON topology's file."""
        return Problem(what, where=str(self.path))

    def listed(self, outer: Mapping[str, Any], name: str, item: str = "") -> list[Any]:
        """Return the list of objects with this name in an object of the JSON topology.

        item: the place of `outer` in the file, for errors.
        """
        inner = outer.get(name, [])
        shown = f"{item}.{name}" if item else name
        if not isinstance(inner, list):
            raise self.problem(f"{shown}: expected a list")
        for k, member in enumerate(inner):
            if not isinstance(member, dict):
                raise self.problem(f"{shown}[{k}]: expected an object")
        return inner

    def topology(
        self,
        links: Sequence[JsonLink],
        nodes: Sequence[JsonNode] = (),
        columns: tuple[str, str] = ("x", "y"),
    ) -> JsonTopology:
        """Return the JSON topology of links and nodes. columns: the names of a node's
        coordinates.
        """
        valued = dict.fromkeys(
            name for link in links for name, value in link.values.items() if _is_simple(value)
        )
        rows = [
            (
                link.item,
                [
                    *map(_field, (link.source, link.target)),
                    *(_field(link.values.get(name)) for name in valued),
                ],
            )
            for link in links
        ]
        placed = [(node.item, [_field(node.name), *map(_field, node.place)]) for node in nodes]
        return JsonTopology(
            ItemTable(self.path, ["source", "target", *valued], rows),
            ItemTable(self.path, ["id", *columns], placed),
        )


def _is_simple(value: Any) -> bool:
    return isinstance(value, int | float | str | bool)


def _field(value: Any) -> str:
    """Return a JSON value as the text of a table's field; null becomes ""."""
    return "" if value is None or not _is_simple(value) else str(value)


def place(given: Any) -> tuple[tuple[Any, Any], tuple[str, str]] | None:
    """Return the coordinates of an object of a JSON topology and their names, or None."""
    if isinstance(given, dict):
        for names in _PLACES:
            if all(_is_simple(given.get(name)) for name in names):
                geographic = names if names == ("x", "y") else ("lon", "lat")
                return (given[names[0]], given[names[1]]), geographic
    return None


def _netjson(items: Items, plain: Mapping[str, Any]) -> JsonTopology:
    graph, outer = plain, ""
    if plain["type"] == "NetworkCollection":
        collected = items.listed(plain, "collection")
        kinds = [item.get("type") for item in collected]
        if "NetworkGraph" not in kinds:
            raise items.problem("collection: expected a NetworkGraph")
        at = kinds.index("NetworkGraph")
        graph, outer = collected[at], f"collection[{at}]."
    return _of_graph(items, graph, outer)


def _of_graph(items: Items, graph: Any, outer: str = "", name: str = "links") -> JsonTopology:
    """Return the topology of an object of NetJSON or node-link data, with links of this name."""
    links = [
        JsonLink(f"{outer}{name}[{k}]", item.get("source"), item.get("target"), _without_ends(item))
        for k, item in enumerate(items.listed(graph, name))
    ]
    nodes, columns = [], ("x", "y")
    for k, item in enumerate(items.listed(graph, "nodes")):
        parts = item, item.get("location"), item.get("properties")
        position, columns = next(filter(None, map(place, parts)), (("", ""), columns))
        nodes.append(JsonNode(f"{outer}nodes[{k}]", item.get("id"), position))
    directed = len(links) if graph.get("directed") is True else 0
    return items.topology(links, nodes, columns)._replace(directed=directed)


def _without_ends(link: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a NetJSON link: its own, such as cost, and its properties."""
    own = {name: value for name, value in link.items() if name not in ("source", "target")}
    more = own.pop("properties", None)
    return {**(more if isinstance(more, dict) else {}), **own}


_OLSR = {
    "topology": ("lastHopIP", "destinationIP"),
    "links": ("localIP", "remoteIP"),
    "edge": ("node", "edge"),
}


def _olsr(items: Items, plain: Mapping[str, Any], name: str) -> JsonTopology:
    links, ends = [], _OLSR[name]
    for k, one in enumerate(items.listed(plain, name)):
        values = {field: value for field, value in one.items() if field not in ends}
        links.append(JsonLink(f"{name}[{k}]", one.get(ends[0]), one.get(ends[1]), values))
    return items.topology(links)


def _vis(items: Items, routers: list[Any]) -> JsonTopology:
    """Return the topology of batadv-vis: an interface belongs to the router of its primary
    address.
    """
    primary: dict[Any, Any] = {}
    links, nodes = [], []
    for k, router in enumerate(routers):
        nodes.append(JsonNode(f"vis[{k}]", router.get("primary")))
        others = router.get("secondary", [])
        if not isinstance(others, list):
            raise items.problem(f"vis[{k}].secondary: expected a list")
        primary |= {other: router.get("primary") for other in others if isinstance(other, str)}
        for j, link in enumerate(items.listed(router, "neighbors", f"vis[{k}]")):
            links.append(_vis_link(f"vis[{k}].neighbors[{j}]", link, link.get("metric")))
    return items.topology(_renamed(links, primary), nodes)


def _vis_lines(items: Items, lines: list[Any]) -> JsonTopology:
    known = [(k, one) for k, one in enumerate(lines) if isinstance(one, dict)]
    primary = {str(one["secondary"]): one.get("of") for _, one in known if "secondary" in one}
    links = [_vis_link(f"[{k}]", one, one.get("label")) for k, one in known if "neighbor" in one]
    nodes = [JsonNode(f"[{k}]", one["primary"]) for k, one in known if "primary" in one]
    return items.topology(_renamed(links, primary), nodes)


def _vis_link(item: str, link: Mapping[str, Any], metric: Any) -> JsonLink:
    """Return a link of a batadv-vis topology: its metric is 255 / TQ."""
    try:
        quality = {"metric": metric, "tq": round(min(1.0 / float(metric), 1.0), 4)}
    except (TypeError, ValueError, ZeroDivisionError):
        quality = {"metric": metric}
    return JsonLink(item, link.get("router"), link.get("neighbor"), quality)


def _renamed(links: Iterable[JsonLink], primary: Mapping[Any, Any]) -> list[JsonLink]:
    def of(name: Any) -> Any:
        return primary.get(name, name) if isinstance(name, str) else name

    return [link._replace(source=of(link.source), target=of(link.target)) for link in links]


def _neighbours(items: Items, routers: Mapping[str, Any]) -> JsonTopology:
    """Return the topology of neighbours by alfred or respondd: a node id per router, TQ per
    neighbour.
    """
    router: dict[Any, Any] = {}  # the address of an interface -> the node id
    links, nodes = [], []
    for name, entry in routers.items():
        interfaces = _object(items, entry, "batadv", name) if isinstance(entry, dict) else {}
        node = str(entry.get("node_id", name)) if isinstance(entry, dict) else name
        nodes.append(JsonNode(name, node))
        for interface, interface_value in interfaces.items():
            router[interface] = node
            for other, about in _object(items, interface_value, "neighbours", interface).items():
                tq = about.get("tq") if isinstance(about, dict) else None
                links.append(JsonLink(f"{name}.batadv.{interface}", node, other, {"tq": tq}))
    return items.topology(_renamed(links, router), nodes)


def _object(items: Items, outer: Any, name: str, item: str) -> Mapping[str, Any]:
    inner = outer.get(name, {}) if isinstance(outer, dict) else None
    if not isinstance(inner, dict):
        raise items.problem(f"{item}.{name}: expected an object")
    return inner
