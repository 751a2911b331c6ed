"""The contacts of a node with members in gossip on paths: from which node a counter came, and when
a next node sent gossip last.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE
from halfway.protocols.failure_detectors.member_index import find_member

# A node's contacts with a member. `heard` has the counters of the member.
CONTACT = np.dtype(
    [
        ("at", "<f8"),  # when the member itself last sent gossip, by the own clock (s)
        ("node_id", "<i4"),  # the member
        ("came_from", "<i4"),  # the node whose gossip made the counter grow last
        ("is_due", "u1"),  # 1 if the counter grew since the last gossip
        ("is_broken", "u1"),  # 1 if the member is silent as a next node
    ]
)


@inlined
def grew_for(state, i, place, towards):
    """Return whether row i gossips a counter to a next node on a path: the counter grew since the
    last gossip, and came from another node.
    """
    contact = state.contact[i, place]
    return contact.is_due == 1 and contact.came_from != towards


@apart
def contact_of(state, i, member):
    """Return the place of a member in row i's contacts for gossip on paths, or NO_PLACE if the
    member is unknown.
    """
    place = find_member(state.heard.members, i, member)
    if place != NO_PLACE:
        contact = state.contact[i, place]
        if contact.node_id != member:
            contact.node_id = member
            contact.at = -np.inf
            contact.is_broken = 0
            contact.is_due = 0
    return place
