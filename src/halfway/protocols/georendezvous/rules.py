"""The rules of GeoRendezvous: its parameters, with checks."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.protocols.georendezvous.cells import CELL_SIDE_RADII

MOST_POINTS = 32  # each point has one bit
MOST_HOPS = 30_000


class Rules(NamedTuple):
    """The rules of GeoRendezvous: its scalars, equal on every node, and the names of topics."""

    key: np.uint64  # key of the hash
    side: float  # side of a cell, in the unit of positions; at most reach * CELL_SIDE_RADII
    points: int  # [geo §2.3] n, rendezvous points per topic; at most 32
    tried: int  # [geo §2.4] m, the closest points, which a subscriber tries
    beacon_interval_s: float
    renewal_interval_s: float  # seconds between renewals of an advertisement or subscription
    lifetime_s: float  # lifetime of an entry; more than `renewal_interval_s`
    join_listen_s: float  # a newcomer listens for this time before it becomes a member
    max_hops: int  # a message ends after this number of transmissions
    # The rectangle that keys hash into, in the unit of the positions: its corner and its sides.
    low_x: float
    low_y: float
    wide: float
    high: float
    replicas: int  # members of a cell that store a key; 0: all of them
    retries: int  # retransmissions of an unacknowledged hop; 0: no acknowledgements
    ack_timeout_s: float  # more than a round trip
    ack_backoff: float  # growth of ack_timeout_s with each retransmission
    bridges: int  # empty cells that a node joins at most to link cells that do not touch
    home_memory_s: float  # [geo §2.1, footnote 1] a home keeps this knowledge so long
    # [topics] names that all nodes share, by the node's own number of a topic; [0]: the numbers
    names: npt.NDArray[np.uint64]


def rules(
    radius: float,
    key: int = 0,
    area: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0),
    **scalars: Any,
) -> Rules:
    """Return the rules of GeoRendezvous for nodes with a radio reach `radius`, in the unit of
    positions. scalars: the other fields of `Rules`, each of which is an option.

    area: the rectangle that keys hash into: x and y of its corner, width, height.
    Raises Problem for values under which keys would be lost even in a static network.
    """
    if not radius > 0.0:
        raise Problem(f"radius = {radius:g}: expected a positive length")
    if not 0 <= key < 2**64:
        raise Problem(f"key = {key}: expected an integer from 0 to 2^64 - 1")
    low_x, low_y, wide, high = map(float, area)
    made = Rules(
        key=np.uint64(key),
        side=radius * CELL_SIDE_RADII,
        low_x=low_x,
        low_y=low_y,
        wide=wide,
        high=high,
        names=np.zeros(0, np.uint64),
        **scalars,
    )
    _check(made)
    return made


def _check(made: Rules) -> None:
    if not 1 <= made.tried <= made.points <= MOST_POINTS:
        raise Problem(
            f"tried = {made.tried}, points = {made.points}: "
            f"expected 1 <= tried <= points <= {MOST_POINTS}"
        )
    if not 0.0 < made.renewal_interval_s < made.lifetime_s:
        raise Problem(
            f"renewal_interval_s = {made.renewal_interval_s:g}, lifetime_s = {made.lifetime_s:g}: "
            "expected a lifetime longer than the renewal interval",
            remedy="take at least twice the renewal interval",
        )
    if not 0.0 <= made.home_memory_s < made.lifetime_s:
        raise Problem(
            f"home_memory_s = {made.home_memory_s:g}, lifetime_s = {made.lifetime_s:g}: "
            "expected a home memory shorter than the lifetime",
            remedy="take at most half of the lifetime",
        )
    if not 0.0 < made.join_listen_s < made.beacon_interval_s:
        raise Problem(
            f"join_listen_s = {made.join_listen_s:g}, beacon_interval_s = "
            f"{made.beacon_interval_s:g}: expected 0 < join_listen_s < beacon_interval_s"
        )
    if not 1 <= made.max_hops <= MOST_HOPS:
        raise Problem(f"max_hops = {made.max_hops}: expected 1 to {MOST_HOPS:,}")
    for name in ("replicas", "retries", "bridges"):
        if getattr(made, name) < 0:
            raise Problem(f"{name} = {getattr(made, name)}: expected 0 or more")
    if not made.ack_timeout_s > 0.0:
        raise Problem(f"ack_timeout_s = {made.ack_timeout_s:g}: expected more than 0")
