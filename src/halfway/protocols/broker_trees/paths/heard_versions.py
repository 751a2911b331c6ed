"""The latest version of each announced broker that a node heard, also of brokers that the node does
not keep among the near ones.

The table of near brokers has few places, so a node often replaces a broker there. Without a memory
of versions, the node would take an old announcement of such a broker for a new one, and pass it on.
[Perkins & Bhagwat 1994] a node of DSDV discards a route with an older sequence number.
[Garcia-Luna-Aceves 1993] a node that lost its route takes another one only if its neighbour is
nearer than the node was. So the next nodes to a broker form no ring.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.broker_trees.records.messages import HOPS, INCARNATION, ORIGIN, VERSION

PLACES = 64  # brokers whose version a node remembers
HEARD = np.dtype(
    [
        ("broker", "<i4"),  # id; NONE: a free place
        ("incarnation", "<u4"),
        ("version", "<i4"),  # of the latest announcement or withdrawal of the broker
        ("hops", "<i4"),  # least hops at which the node took this version; or UNKNOWN_HOPS
        ("heard_at", "<f8"),  # when the node heard this version, or took a shorter way of it
    ],
    align=True,
)


class HeardVersions(NamedTuple):
    """The latest versions of the brokers that each node heard of, in no order."""

    of: npt.NDArray[np.void]  # [n, places] HEARD, as a record array
    forgotten: npt.NDArray[np.int64]  # [n] versions that others replaced


def nothing_heard(n: int) -> HeardVersions:
    """Return the empty tables of n nodes that have heard of no broker."""
    of = np.zeros((n, PLACES), HEARD)
    of["broker"] = NONE
    return HeardVersions(of.view(np.recarray), np.zeros(n, np.int64))


@apart
def place_heard(heard, i, broker, since):
    """Return the place of the latest version of a broker that row i heard at the time `since` or
    later, or NO_PLACE.
    """
    for s in range(heard.of.shape[1]):
        there = heard.of[i, s]
        if there.broker == broker:
            return np.int64(s) if there.heard_at >= since else NO_PLACE
    return NO_PLACE


@apart
def is_outdated(heard, i, message, since):
    """Return whether an announcement is older than one that row i heard at the time `since` or
    later, or whether it is as old and its way is longer than the way that row i had.
    """
    place = place_heard(heard, i, message.args[ORIGIN], since)
    if place == NO_PLACE:
        return False
    there = heard.of[i, place]
    if message[INCARNATION] != there.incarnation:
        return message[INCARNATION] < there.incarnation
    ahead = message.args[VERSION] - there.version
    return ahead < 0 or (ahead == 0 and message.args[HOPS] + 1 > there.hops)


@apart
def place_to_note(heard, i, broker, since):
    """Return the place for the version of a broker: its present place, a free place, or the place
    of the version that row i heard the longest time ago.
    """
    oldest = np.int64(0)
    for s in range(heard.of.shape[1]):
        there = heard.of[i, s]
        if there.broker == broker:
            return np.int64(s)
        kept = heard.of[i, oldest]
        if kept.broker != NONE and (there.broker == NONE or there.heard_at < kept.heard_at):
            oldest = np.int64(s)
    kept = heard.of[i, oldest]
    heard.forgotten[i] += kept.broker != NONE and kept.heard_at >= since
    return oldest


@apart
def note_version(heard, i, message, hops, since):
    """Note the version in an announcement or withdrawal that is not outdated at row i.

    hops: at which the node takes the announcement, or UNKNOWN_HOPS if it takes none.
    """
    broker = message.args[ORIGIN]
    there = heard.of[i, place_to_note(heard, i, broker, since)]
    same = there.broker == broker and there.heard_at >= since
    same = same and there.incarnation == message[INCARNATION]
    if same and there.version == message.args[VERSION]:
        hops = min(there.hops, hops)
        if hops == there.hops:
            return
    there.broker, there.incarnation = broker, message[INCARNATION]
    there.version, there.hops, there.heard_at = message.args[VERSION], hops, message.at
