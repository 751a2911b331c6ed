"""The places of members in a table of the walk systems, by hash, so that no record of a large group
searches the whole table.

The members with the same hash form a chain: `first` is the begin of a chain, and `after` leads from
each place to the next one.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.missing import NO_PLACE
from halfway.core.prng import seeded
from halfway.protocols.parts.hash_table import slots_for


class MemberPlaces(NamedTuple):
    """The places of the members of each topic in a table of a walk system. A value is 1 + a place,
    or 0 at the end of a chain.
    """

    first: npt.NDArray[np.int32]  # [n, T, slots] by hash of member and side
    after: npt.NDArray[np.int32]  # [n, T, members] by place


def no_member_places(n: int, topics: int, members: int) -> MemberPlaces:
    """Return the places of no members in a walk system's table: n rows, with room for `members` of
    each topic.
    """
    return MemberPlaces(
        np.zeros((n, topics, slots_for(members)), np.int32),
        np.zeros((n, topics, members), np.int32),
    )


@inlined
def _slot_of(places, member, side):
    """Return the slot by hash of a member of one side, the begin of its chain of places in
    `first`.
    """
    hashed = seeded(np.uint64(side), member)
    return np.int64(hashed & np.uint64(places.first.shape[2] - 1))


@inlined
def place_of_member(places, table, i, topic, side, member):
    """Return the place of a member in the table [n, T, members] of a walk system at row i, by hash,
    or NO_PLACE.
    """
    place = np.int64(places.first[i, topic, _slot_of(places, member, side)]) - 1
    while place >= 0:
        known = table[i, topic, place]
        if known.status != 0 and known.member == member and known.side == side:
            return place
        place = np.int64(places.after[i, topic, place]) - 1
    return NO_PLACE


@inlined
def assign_place(places, table, i, topic, place, side, member):
    """Assign a place in the table of a walk system to a new member, instead of the member that had
    the place before.
    """
    known, before = table[i, topic, place], np.int64(-1)
    slot = _slot_of(places, known.member, known.side)
    other = np.int64(places.first[i, topic, slot]) - 1
    while other not in (-1, place):
        before, other = other, np.int64(places.after[i, topic, other]) - 1
    if other == place and before == -1:
        places.first[i, topic, slot] = places.after[i, topic, place]
    elif other == place:
        places.after[i, topic, before] = places.after[i, topic, place]
    known.status = 0
    known.side = side
    known.member = member
    slot = _slot_of(places, member, side)
    places.after[i, topic, place] = places.first[i, topic, slot]
    places.first[i, topic, slot] = place + 1
