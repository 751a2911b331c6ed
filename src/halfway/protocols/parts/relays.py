"""The relays of a failure detector: nodes that are not members, and pass on what members send.

A node knows its own role from its start on, as it knows its id. It also knows whether its network
has relays at all, because this decides how it learns the roles of its neighbours.
"""

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined

Roles = npt.NDArray[np.uint8]  # [n, 1] 1: the row is a relay; [n, 0]: the network has no relays


def roles_of(n: int, relays: npt.ArrayLike | None) -> Roles:
    """Return the roles of n nodes as a column of a failure detector's state. relays: [n] whether
    each node is a relay; None: every node is a member, and the column is empty.
    """
    if relays is None:
        return np.zeros((n, 0), np.uint8)
    return np.array(relays, np.uint8).reshape(n, 1)


@inlined
def has_relays(roles):
    """Return whether a failure detector's network has relays."""
    return roles.shape[1] > 0


@inlined
def is_relay(roles, i):
    """Return whether row i of a failure detector is a relay."""
    return roles.shape[1] > 0 and roles[i, 0] == 1
