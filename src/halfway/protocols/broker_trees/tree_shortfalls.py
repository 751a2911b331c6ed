"""The shortfalls of nodes in either broker tree: messages without a path, and entries that found a
full table.
"""

from typing import Any

from halfway.protocols.broker_trees.paths.circuits import IGNORED
from halfway.protocols.parts.deaf_neighbours import REPLACED
from halfway.protocols.parts.hash_table import FORGOTTEN
from halfway.protocols.parts.reliable_hop import TABLE_FULL
from halfway.protocols.parts.shortfalls import FORGOTTEN_DEAF, UNACKNOWLEDGED, WITHOUT_ROUTE


def shortfalls_of_tree(state: Any) -> dict[str, int]:
    """Return the shortfalls of nodes in SIENA's tree, by name."""
    return {
        WITHOUT_ROUTE: int(state.lost.sum()),
        "subscriptions without room": int(state.table.refused.sum()),
        "client subscriptions without room": int(state.clients.refused.sum()),
        "paths without room": int(state.circuits.counts[:, FORGOTTEN].sum()),
        "searches without room": int(state.circuits.counts[:, IGNORED].sum()),
        UNACKNOWLEDGED: int(state.hops.counts[:, TABLE_FULL].sum()),
        "forgotten versions of brokers": int(state.nearby.heard.forgotten.sum()),
        "forgotten windows of hops": int(state.windows.counts[:, FORGOTTEN].sum()),
        FORGOTTEN_DEAF: int(state.deaf.counts[:, REPLACED].sum()),
    }


def shortfalls_of_underlay_tree(state: Any) -> dict[str, int]:
    """Return the shortfalls of nodes in the underlay-aware tree, with those of children and of
    unconfirmed records.
    """
    return {
        **shortfalls_of_tree(state),
        "unconfirmed records without room": int(state.unconfirmed.refused.sum()),
        "unconfirmed records given up": int(state.unconfirmed.failed.sum()),
        "children without room": int(state.children.refused.sum()),
    }
