"""The shortfalls of the walks in failure detectors on paths."""

from typing import Any

from halfway.protocols.parts.reliable_hop import TABLE_FULL
from halfway.protocols.parts.shortfalls import UNACKNOWLEDGED
from halfway.protocols.walks.directional_walk import FORGOTTEN_WEIGHTS, forgotten_weights
from halfway.protocols.walks.tables.counts import NO_SLOT


def path_shortfalls(state: Any) -> dict[str, int]:
    """Return what the nodes in the state of a failure detector on paths forgot or gave up of the
    walks of their group.
    """
    tables = state.walks.tables
    return {
        "trails, branches and paths without room": int(tables.counts[:, NO_SLOT].sum()),
        UNACKNOWLEDGED: int(tables.hops.counts[:, TABLE_FULL].sum()),
        FORGOTTEN_WEIGHTS: forgotten_weights(state.walks),
    }
