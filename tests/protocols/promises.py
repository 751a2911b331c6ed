"""What each system promises in random histories: its options, its networks and its times."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.systems import SIMPLE

CHANGES_S = 30.0  # joins, leaves, moves, crashes and cuts happen before this time
LAST_EVENTS_S = 4.0  # after quiescence, in which the last events are published
REFRESH_S = 5.0
STATIC = ("star", "line", "hubs", "disk")


class Promise(NamedTuple):
    """What a system promises: the options and networks, and the times in which it delivers."""

    options: Mapping[str, Any] = {}
    quiet_s: float = 1.0  # after the last change, until each event must reach each subscriber
    arrives_s: float = 1.0  # within which an event must arrive
    networks: tuple[str, ...] = (*STATIC, "moving")
    delivers: bool = True  # otherwise only: nothing twice, and nothing unasked
    keeps_events: bool = False  # and hands them to nodes that subscribe later


# Five refreshes after the last change, paths and trails of before have expired and each member has
# met the others again.
_WALKS = Promise(
    {"refresh_s": REFRESH_S, "relaunch_s": 2.0, "search_steps": 200}, 5 * REFRESH_S, 2.0
)
_TREES = {"brokers": 3, "refresh_s": 2.0, "join_delay_s": 1.0}
PROMISES: dict[str, Promise] = dict.fromkeys(SIMPLE, Promise()) | {
    # A node sends an event to all of its neighbours.
    "gossip": Promise({"fanout": 12, "rounds": 1}, 6.0, 12.0),
    # A node never has enough copies to keep an event to itself.
    "counter-broadcast": Promise({"enough": 1000}),
    # A pair of neighbours exchanges events about five times a second.
    "anti-entropy": Promise({"period_s": 0.2, "jitter_s": 0.1}, 6.0, 30.0, keeps_events=True),
    "rumor-routing": Promise(
        {"query_timeout_s": 1.0}, 6.0, 20.0, delivers=False, keeps_events=True
    ),
    "directional-walk": _WALKS,
    "random-walk": _WALKS,
    "walk-overlay": Promise({}, 40.0, 3.0, keeps_events=True),
    # Clocks that drift measure delays of 999 and 1,000 microseconds over one hop.
    "drip": Promise(
        {"brokers": 3, "nearest": 1, "copies": 1, "least_gain_s": 1e-5},
        30.0,
        20.0,
        ("dense",),
        keeps_events=True,
    ),
    "siena": Promise(_TREES, 20.0, 3.0, STATIC),
    "underlay-siena": Promise(
        _TREES | {"known_brokers": 2, "confirm_timeout_s": 0.5, "tau_s": 3.0},
        20.0,
        3.0,
        STATIC,
        keeps_events=True,
    ),
}
