"""Reader of GeoJSON topologies: points are nodes, and lines are links between their ends.

A line names its ends by the properties source and target (or from, to), or ends at the coordinates
of points. Without a point at an end, a node with the coordinates as its id begins there.
"""

from collections.abc import Mapping
from typing import Any

from halfway.world.importers.json_topology import (
    Items,
    JsonLink,
    JsonNode,
    JsonTopology,
)

_NAMES = ("id", "node", "name", "label")
_ENDS = (("source", "target"), ("from", "to"))


def geojson(items: Items, plain: Mapping[str, Any]) -> JsonTopology:
    """Return the topology of a GeoJSON feature or collection. Raises Problem with the item."""
    collection = plain["type"] == "FeatureCollection"
    features = items.listed(plain, "features") if collection else [plain]
    at: dict[tuple[float, ...], str] = {}  # coordinates -> node
    nodes: list[JsonNode] = []
    lines: list[tuple[str, Mapping[str, Any], list[Any]]] = []
    for k, feature in enumerate(features):
        item = f"features[{k}]" if collection else "the feature"
        geometry = feature.get("geometry")
        kind = geometry.get("type") if isinstance(geometry, dict) else None
        about = feature.get("properties")
        about = about if isinstance(about, dict) else {}
        if kind == "Point":
            place = _coordinates(items, geometry.get("coordinates"), item)
            name = _name({**feature, **about} if "id" in about else {**about, **feature})
            name = _by_place(place) if name is None else name
            at.setdefault(place, name)
            nodes.append(JsonNode(item, name, (place[0], place[1])))
        elif kind in ("LineString", "MultiLineString"):
            parts = geometry.get("coordinates")
            parts = [parts] if kind == "LineString" else parts
            if not isinstance(parts, list):
                raise items.problem(f"{item}.geometry.coordinates: expected a list")
            lines += [(item, about, part) for part in parts]
    links = [_link(items, line, at, nodes) for line in lines]
    return items.topology(links, nodes, ("lon", "lat"))


def _link(
    items: Items,
    line: tuple[str, Mapping[str, Any], Any],
    at: dict[tuple[float, ...], str],
    nodes: list[JsonNode],
) -> JsonLink:
    item, about, part = line
    for ends in _ENDS:
        if all(end in about for end in ends):
            values = {name: value for name, value in about.items() if name not in ends}
            return JsonLink(item, about[ends[0]], about[ends[1]], values)
    if not isinstance(part, list) or len(part) < 2:
        raise items.problem(f"{item}: expected a line of at least two points")
    names = []
    for end in (part[0], part[-1]):
        place = _coordinates(items, end, item)
        if place not in at:
            at[place] = _by_place(place)
            nodes.append(JsonNode(item, at[place], (place[0], place[1])))
        names.append(at[place])
    return JsonLink(item, names[0], names[1], about)


def _name(given: Mapping[str, Any]) -> str | None:
    """Return the id of a GeoJSON point: its id, or a property with a usual name."""
    found = next((given[name] for name in _NAMES if isinstance(given.get(name), str | int)), None)
    return None if found is None else str(found)


def _by_place(place: tuple[float, ...]) -> str:
    return f"{place[0]:.6f},{place[1]:.6f}"


def _coordinates(items: Items, given: Any, item: str) -> tuple[float, float]:
    numbers = isinstance(given, list) and len(given) >= 2
    if not numbers or not all(isinstance(one, int | float) for one in given[:2]):
        raise items.problem(f"{item}.geometry.coordinates: expected longitude and latitude")
    try:
        return float(given[0]), float(given[1])
    except OverflowError:
        raise items.problem(f"{item}.geometry.coordinates: expected degrees") from None
