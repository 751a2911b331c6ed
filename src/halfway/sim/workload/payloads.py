"""Payloads of a run: which message kinds carry an event, and the bytes of the events in flight."""

import numpy as np

from halfway.core.kinds import Channel, Kinds, MapRole
from halfway.sim.engine.records import Payload
from halfway.world.workload.demand import Publications

_LEAST_PLACES = 4096


def payload_of(kinds: Kinds, window: int) -> Payload:
    """Return the empty payload of a run with so many events in flight.

    Places are reused after four windows. No node handles an event that old.
    """
    carried = np.zeros(256, np.uint8)
    carried[carrying(kinds)] = 1
    return Payload(carried, np.zeros(max(4 * window, _LEAST_PLACES), np.int64))


def carrying(kinds: Kinds) -> list[int]:
    """Return the numbers of the message kinds whose records carry the payload of an event.

    They bring an event one hop further. A protocol that declares no such kind, as a user's protocol
    may, carries the payload in every message on the network with the field `event`.
    """
    found = [kind.number for kind in kinds if kind.on_map is MapRole.EVENT_HOP]
    network = (kind for kind in kinds if kind.channel is Channel.NETWORK)
    return found or [
        kind.number for kind in network if "event" in kind.fields and "event" not in kind.reused
    ]


def set_sizes(payload: Payload, publications: Publications) -> None:
    """Set the bytes of the next publications in the payload of a run."""
    if publications.size is not None:
        payload.size[publications.event % len(payload.size)] = publications.size
