"""The contacts of a node in gossip on paths: from which node the counter of a member came, when a
next node sent gossip last, and when its silence breaks a path.

A node keeps its contacts with relays apart from those with members, because no counter names a
relay.
"""

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.failure_detectors.member_index import find_member

# A node's contacts with a member or a relay. `heard` has the counters of the member.
CONTACT = np.dtype(
    [
        ("at", "<f8"),  # when the node itself last sent gossip, by the own clock (s)
        ("node_id", "<i4"),  # the member or relay
        ("came_from", "<i4"),  # the node whose gossip made the counter grow last
        ("is_due", "u1"),  # 1 if the counter grew since the last gossip
        ("is_broken", "u1"),  # 1 if the node is silent as a next node
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


@inlined
def relay_place(state, i, relay):
    """Return the place of a relay in row i's contacts with relays for gossip on paths, or NO_PLACE
    if row i has no contact with the relay.
    """
    for place in range(state.relay_contact.shape[1]):
        if state.relay_contact[i, place].node_id == relay:
            return np.int64(place)
    return NO_PLACE


@apart
def note_contact(state, i, source, now):
    """Note at row i that a node sent gossip on paths itself, by the contact with this member or
    relay.

    In a full table, a relay takes the place of the relay that has sent nothing for the longest
    time. Without relays in the network, the table has no place.
    """
    place = contact_of(state, i, source)
    if place != NO_PLACE:
        state.contact[i, place].at = now
        state.contact[i, place].is_broken = 0
    elif state.relay_contact.shape[1] > 0:
        place = relay_place(state, i, source)
        if place == NO_PLACE:
            place = np.int64(0)
            for other in range(1, state.relay_contact.shape[1]):
                if state.relay_contact[i, other].at < state.relay_contact[i, place].at:
                    place = np.int64(other)
        state.relay_contact[i, place].node_id = source
        state.relay_contact[i, place].at = now
        state.relay_contact[i, place].is_broken = 0


@inlined
def begin_rounds(state, i, rounds):
    """Set the remaining rounds of bridging gossip at row i to `rounds`, unless row i has more
    rounds left. The first round is at the next tick, the others in the next periods.
    """
    if rounds > state.rounds[i]:
        if state.rounds[i] == 0:
            state.is_reached[i] = 1
        state.rounds[i] = rounds


@apart
def find_break(state, rules, i, towards, since, now):
    """Begin to bridge a broken path at row i, if the next node on the path has sent no gossip for
    too long.

    since: time at which the path began (s).
    """
    contacts, place = state.contact, find_member(state.heard.members, i, towards)
    if place == NO_PLACE:
        contacts, place = state.relay_contact, relay_place(state, i, towards)
    if place == NO_PLACE or contacts[i, place].node_id != towards:
        return
    contact = contacts[i, place]
    if contact.is_broken == 0 and now - max(contact.at, since) > rules.bridge_after_s:
        contact.is_broken = 1
        begin_rounds(state, i, rules.bridge_rounds)


def no_contacts(n: int, places: int) -> npt.NDArray[np.void]:
    """Return the contacts of n nodes in gossip on paths before the first gossip, as a record array
    with so many places at each node.
    """
    contact = np.zeros((n, places), CONTACT)
    contact["node_id"] = NONE
    return contact.view(np.recarray)


def no_relay_contacts(n: int, places: int) -> npt.NDArray[np.void]:
    """Return the contacts with relays of n nodes in gossip on paths before the first gossip."""
    contact = no_contacts(n, places)
    contact["at"] = -np.inf
    return contact
