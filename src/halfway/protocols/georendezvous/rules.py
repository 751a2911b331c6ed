"""The parameters of GeoRendezvous, checked."""

from typing import NamedTuple

import numpy as np

from halfway.problem import Problem
from halfway.protocols.georendezvous.cells import CELL_SIDE_RADII

MOST_POINTS = 32  # one bit each
_HOP_LIMIT = 30_000


class Rules(NamedTuple):
    """The scalars of the system, the same on every node."""

    key: np.uint64  # of the hash
    side: float  # of a cell, in the unit of the positions; at most reach * CELL_SIDE_RADII
    points: int  # [geo §2.3] n, rendezvous points a topic; 32 at most
    tried: int  # [geo §2.4] m, the closest ones that a subscriber tries
    beacon_interval_s: float
    renewal_interval_s: float  # of an advertisement or subscription
    lifetime_s: float  # of an entry; more than `renewal_interval_s`
    join_listen_s: float  # a newcomer listens so long before it becomes a member
    max_hops: int  # a message ends after so many transmissions
    # The rectangle that keys hash into, in the unit of the positions: its corner and its sides.
    low_x: float = 0.0
    low_y: float = 0.0
    wide: float = 1.0
    high: float = 1.0
    replicas: int = 0  # members of a cell that store a key; 0: all of them
    retries: int = 0  # retransmissions of an unacknowledged hop; 0: no acknowledgements
    ack_timeout_s: float = 0.1  # more than a round trip


def rules(
    radius: float,
    key: int = 0,
    *,
    points: int = 8,
    tried: int = 2,
    beacon_interval_s: float = 1.0,
    renewal_interval_s: float = 10.0,
    lifetime_s: float = 25.0,
    join_listen_s: float = 0.5,
    max_hops: int = 2000,
    area: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0),
    replicas: int = 0,
    retries: int = 0,
    ack_timeout_s: float = 0.1,
) -> Rules:
    """The rules for nodes that reach as far as `radius`.

    area: the rectangle that keys hash into: x and y of its corner, width, height.
    Raises Problem for values under which keys would be lost even in a static network.
    """
    if not radius > 0.0:
        raise Problem(f"radius = {radius:g}: expected a positive length")
    if not 0 <= key < 2**64:
        raise Problem(f"key = {key}: expected an integer from 0 to 2^64 - 1")
    if not 1 <= tried <= points <= MOST_POINTS:
        raise Problem(
            f"tried = {tried}, points = {points}: expected 1 <= tried <= points <= {MOST_POINTS}"
        )
    if not 0.0 < renewal_interval_s < lifetime_s:
        raise Problem(
            f"renewal_interval_s = {renewal_interval_s:g}, lifetime_s = {lifetime_s:g}: expected "
            "a lifetime longer than the renewal interval",
            remedy="take at least twice the renewal interval",
        )
    if not 0.0 < join_listen_s < beacon_interval_s:
        raise Problem(
            f"join_listen_s = {join_listen_s:g}, beacon_interval_s = {beacon_interval_s:g}: "
            "expected 0 < join_listen_s < beacon_interval_s"
        )
    if not 1 <= max_hops <= _HOP_LIMIT:
        raise Problem(f"max_hops = {max_hops}: expected 1 to {_HOP_LIMIT:,}")
    if min(replicas, retries) < 0 or not ack_timeout_s > 0.0:
        raise Problem(
            f"replicas = {replicas}, retries = {retries}, ack_timeout_s = {ack_timeout_s:g}: "
            "expected 0 or more for the first two, more than 0 for the last"
        )
    low_x, low_y, wide, high = map(float, area)
    return Rules(
        np.uint64(key), radius * CELL_SIDE_RADII, points, tried, beacon_interval_s,
        renewal_interval_s, lifetime_s, join_listen_s, max_hops, low_x, low_y, wide, high,
        replicas, retries, ack_timeout_s,
    )  # fmt: skip
