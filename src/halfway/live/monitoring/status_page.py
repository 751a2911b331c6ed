"""The status page of live nodes for a local browser: a map of nodes and links, events, and
drops.
"""

from collections import Counter
from importlib.resources import files
from typing import Any

import msgspec

from halfway.live.link.neighbour_table import NEIGHBOUR
from halfway.live.members import MemberState
from halfway.live.monitoring.http import Resource
from halfway.live.runtime.host import Host
from halfway.live.runtime.mesh_node import MeshNode

_MOST_EVENTS, _MOST_NODES, _MOST_HEARD = 20, 400, 20
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page_resources(host: Host) -> dict[str, Resource]:
    """Return the status page of a host, and the files that it loads, by path."""
    folder = files("halfway.live.monitoring")

    def fixed(name: str, type_: str) -> Resource:
        content = folder.joinpath(name).read_bytes()
        return Resource(f"{type_}; charset=utf-8", lambda: content, _POLICY)

    page = fixed("page.html", "text/html")
    return {
        "/": page,
        "/page.css": fixed("page.css", "text/css"),
        "/page.js": fixed("page.js", "text/javascript"),
        "/state.json": Resource(
            "application/json", lambda: msgspec.json.encode(page_state(host)), _POLICY
        ),
    }


def page_state(host: Host) -> dict[str, Any]:
    """Return the data of the status page as plain values; times in seconds."""
    first, now = host.nodes[0], host.scheduler.now()
    counts, drops = Counter[str](), Counter[str]()
    for node in host.nodes:
        node.endpoint.count_kernel_drops()
        drops.update(node.drops.by_reason())
        drops.update(node.face.shortfalls())
        counts.update({name: node.counts[name] for name in _COUNTS})
        counts["datagrams received"] += node.endpoint.received
        counts["datagrams sent"] += node.endpoint.sent
    names, links = _map(host)
    others = len(host.nodes) - 1
    positions = {node.node_id: node.links.table.position for node in host.nodes}
    return {
        "name": f"{first.name} and {others} more" if others else first.name,
        "security": first.security.label, "unsafe": not host.settings.has_keys,
        "system": host.settings.system, "compiled": host.is_compiled, "up_s": now,
        "nodes": [
            {"id": node_id, "name": names[node_id], "own": node_id in positions,
             "position": positions.get(node_id)}
            for node_id in sorted(names)
        ],
        "links": sorted(links),
        "counts": counts, "drops": dict(sorted(drops.items())),
        "heard": _heard(host), "members": _members(first),
        "events": [
            {"key": f"{key[0]}-{key[1]}-{key[2]}", "topic": body.topic, "publisher": key[0],
             "size": len(body.payload), "age_s": max(now - body.born, 0.0)}
            for key, body in first.events.bodies.newest(_MOST_EVENTS)
        ],
    }  # fmt: skip


def _members(first: MeshNode) -> list[dict[str, Any]] | None:
    """Return the members that the first node knows for the status page, suspected members first, or
    None if its system has no members.
    """
    if first.members is None:
        return None
    rows = [
        {
            "id": member.node_id,
            "name": member.name,
            "state": member.state,
            "since_s": member.since_s,
        }
        for member in first.members.all()
    ]
    rows.sort(key=lambda row: row["state"] != MemberState.SUSPECTED)
    return rows[:_MOST_NODES]


_COUNTS = ("published", "delivered", "records received", "records sent")


def _map(host: Host) -> tuple[dict[int, str], set[tuple[int, int]]]:
    """Return the names of known nodes for the status page, and their links, lower id first."""
    names, links = {node.node_id: node.name for node in host.nodes}, set[tuple[int, int]]()
    for node in host.nodes:  # first, because neighbours report other neighbours without a name
        heard = node.links.table.heard()
        for peer in node.links.table.neighbours():
            names.setdefault(peer, heard[peer].hello.name)
    for node in host.nodes:
        heard = node.links.table.heard()
        for peer in node.links.table.neighbours():
            links.add((min(node.node_id, peer), max(node.node_id, peer)))
            for other in heard[peer].hello.links:
                if len(names) < _MOST_NODES or other in names:
                    names.setdefault(other, str(other))
                    links.add((min(peer, other), max(peer, other)))
    return names, links


def _heard(host: Host) -> list[dict[str, str]]:
    """Return nodes for the status page that the node hears and that are not neighbours, with the
    reason.
    """
    rows = list[dict[str, str]]()
    for node in host.nodes:
        table = node.links.table
        for peer, link in table.heard().items():
            if table.why(peer) != NEIGHBOUR and len(rows) < _MOST_HEARD:
                rows.append({"name": link.hello.name, "state": table.why(peer)})
    return rows
