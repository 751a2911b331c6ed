"""The status of a node: its identity, the nodes that it hears, its counts and its drops."""

import os
from typing import Any

from halfway.live.link.neighbour_table import NEIGHBOUR
from halfway.live.runtime.host import Host
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.topic_filters import OWN


def status_of(host: Host, node: MeshNode) -> dict[str, Any]:
    """Return the status of a node as plain values; times in seconds."""
    node.endpoint.count_kernel_drops()
    endpoint, now = node.endpoint, host.scheduler.now()
    heard = list(_heard(node, now))
    return {
        "node": node.name,
        "id": node.node_id,
        "security": node.security.label,
        "network": _network_of(host, node),
        "system": host.settings.system,
        "compiled": node.stepper.compiled,
        "incarnation": node.identity.incarnation, "position": node.links.table.position,
        "place": dict(node.face.overlay_place()),
        "address": f"{endpoint.address[0]}:{endpoint.address[1]}",
        "process": os.getpid(),
        "nodes": len(host.nodes), "up_s": round(now, 3),
        "neighbours": [sender for sender in heard if sender["state"] == NEIGHBOUR],
        "heard": [sender for sender in heard if sender["state"] != NEIGHBOUR],
        "kept": _kept(node), "members": _members(node),
        "subscriptions": _subscribed(node),
        "wants_all_topics": node.subscriptions.wants_all,
        "counts": dict(sorted(node.counts.items())),
        "drops": node.drops.by_reason(),
        "shortfalls": node.face.shortfalls(),
        "datagrams_refused": dict(node.links.refusals),
        "records_refused": node.stepper.refusals(),
        "datagrams": {
            "received": endpoint.received, "sent": endpoint.sent,
            "bytes_received": endpoint.bytes_received, "bytes_sent": endpoint.bytes_sent,
        },
        "tables": {
            "topics": len(node.subscriptions.table), "bodies": len(node.events.bodies),
            "bodies_forgotten": node.events.bodies.forgotten,
            "topic_numbers_given_anew": node.subscriptions.table.given_anew,
            "records_without_room": node.driver.dropped, "timers": len(host.scheduler.timers),
        },
        "loop_lag_s": round(host.scheduler.lag_s, 6),
        **{name: section() for name, section in host.sections.items()},
    }  # fmt: skip


def _kept(node: MeshNode) -> dict[str, Any] | None:
    """Return the kept events in the status of a node, or None without a journal."""
    if node.kept is None:
        return None
    events, journal = node.kept.events, node.kept.journal
    return {
        "pending": len(events),
        "expired": events.expired,
        "missed": events.missed,
        "journal_bytes": journal.size,
        "journal": "disk failed" if journal.has_failed else "ok",
    }


def _members(node: MeshNode) -> dict[str, Any] | None:
    """Return the counts of members in the status of a node, or None if its system has no
    members.
    """
    if node.members is None:
        return None
    counts, changes = node.members.totals(), node.members.changes
    return {
        **{str(state): count for state, count in counts.items()},
        "changes": {str(state): changes[state] for state in counts},
    }


def _subscribed(node: MeshNode) -> list[str]:
    """Return the topic filters of applications for the status of the node."""
    return sorted(name for name in set(node.subscriptions.filters) if not name.startswith(OWN))


def _network_of(host: Host, node: MeshNode) -> str:
    """Return the name of a node's network. A node with keys has it from its certificate."""
    membership = getattr(node.security, "membership", None)
    return host.settings.network_name if membership is None else str(membership.network)


def _heard(node: MeshNode, now: float) -> list[dict[str, Any]]:
    rows = []
    for peer, link in sorted(node.links.table.heard().items()):
        address = node.links.address_of(peer)
        rows.append({
            "name": link.hello.name, "id": peer, "state": node.links.table.why(peer),
            "address": "" if address is None else f"{address[0]}:{address[1]}",
            "since_s": round(now - link.since, 3), "heard_s_ago": round(now - link.last, 3),
            "hellos": round(link.share(), 3), "neighbours": len(link.hello.links),
        })  # fmt: skip
    return rows
