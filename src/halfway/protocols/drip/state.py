"""The state of a DRIP node: record types of its tables, and the empty state."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.missing import NONE
from halfway.core.prng import random_states
from halfway.protocols.drip.messages import DIGEST_WORDS, MORE_DIGEST_WORDS, MOST_NEAREST
from halfway.protocols.event_window import EventWindows, empty_windows

# Roles of a broker's copy of an event, ascending in what the broker may do with it.
NOTHING, DELETED, DESTINATION, RELAY, SOURCE = 0, 1, 2, 3, 4
ROUTES = 16  # routes to other regions that a node remembers
CONTACTS = 32  # other brokers that a broker keeps track of; bits of `known_by`

# Scalars of a node; times in seconds.
NODE = np.dtype(
    [
        ("capability", "<f8"),  # [drip §IV-A] ξ, or a random number where brokers are drawn
        ("best_capability", "<f8"),
        ("registered_at", "<f8"),
        ("transfer_at", "<f8"),  # when it may transfer events again
        ("starts", "<i4"),  # start events so far: a TICK of an older one is void
        ("replaces", "<i4"),  # the lost broker that this one replaces, -1
        ("beacon_sequence", "<i4"),  # of its last beacon
        ("electing_for", "<i4"),  # the lost broker whose successor is being elected, -1
        ("best_candidate", "<i4"),  # of that election
        ("local_broker", "<i4"),  # [drip §IV-A] of the node's region; -1: none
        ("version", "<i4"),  # of its last registration
        ("arrivals", "<i4"),  # events so far, each the order of its arrival
        ("changes", "<i4"),  # of its register so far
        ("held_events", "<i4"),  # copies that count against the capacity
        ("lost", "<u4"),  # records dropped after too many retries or hops
        ("forgotten", "<u4"),  # event copies that gave way to later events for want of room
        ("pad", "<u4"),
        ("bootstrapped", "<u2"),  # 1 when the first election is over
        ("is_broker", "<u2"),
    ],
    align=True,
)
CANDIDATE = np.dtype([("capability", "<f8"), ("node_id", "<i4"), ("pad", "<i4")])
NEAREST = np.dtype(
    [
        ("delay", "<f8"),  # [drip §IV-B] microseconds
        ("heard_at", "<f8"),  # when its last beacon came
        ("border_at", "<f8"),  # when the border neighbour was last heard in its region
        ("node_id", "<i4"),  # the broker; -1: free
        ("sequence", "<i4"),
        ("via", "<i4"),  # neighbour that sent the beacon
        ("border_neighbour", "<i4"),  # [drip §V-B] a neighbour in that broker's region, -1
        ("digest", "<i4", (DIGEST_WORDS,)),
        ("more_digest", "<f8", (MORE_DIGEST_WORDS,)),
    ]
)
ROUTE = np.dtype([("at", "<f8"), ("to", "<i4"), ("via", "<i4")])
INTERVAL = np.dtype([("low", "<i4"), ("high", "<i4")])  # topics, inclusive; high < low: free
# An event, hashed by its identity: what a node repeated and delivered, and a broker's copy.
EVENT_SLOT = np.dtype(
    [
        ("held_at", "<f8"),  # when the copy came
        ("flood_mark", "<i8"),  # region and round of the flood that was repeated last; -1: none
        ("event", "<i4"),  # its publisher's number; -1: free
        ("publisher", "<i4"),
        ("epoch", "<u4"),
        ("order", "<i4"),  # of its arrival here
        ("topic", "<i4"),
        ("rounds", "<i4"),  # floods of the region so far
        ("role", "<i4"),  # NOTHING: no copy was here
        ("seen", "<i4"),  # 1: it was delivered or published here
        # The slot of the event whose order of arrival, modulo the slots, is the place of this one.
        ("recent", "<i4"),
        ("known_by", "<u4"),  # a bit for each contact that this node exchanged it with
    ]
)
# A broker's register of subscriptions [drip §V-A], hashed by key. Places are never freed, so that a
# record that arrives late is recognised as old.
REGISTRATION = np.dtype(
    [
        ("subscriber", "<i4"),  # node id; -1: free
        ("number", "<i4"),  # of its interval
        ("version", "<i4"),  # 0: only a QUIT has come
        ("quit", "<i4"),  # versions up to this one are not local
        ("local", "<i4"),  # 1: the subscriber is in this broker's region
        ("low", "<i4"),
        ("high", "<i4"),
        ("known_by", "<u4"),  # a bit for each contact that knows this version
        ("nearest", "<i4", (MOST_NEAREST,)),  # [drip §V-B] brokers nearest to the subscriber
    ]
)
CONTACT = np.dtype(
    [
        ("met_at", "<f8"),
        ("exchange_at", "<f8"),  # when it may be sent subscriptions again
        ("broker", "<i4"),
        ("changes", "<i4"),  # of the register when all of it had been sent
        ("place", "<i4"),  # of the register, where sending continues
        ("pad", "<i4"),
    ]
)


class DripState(NamedTuple):
    """The state of a DRIP node. K, L and M are `brokers`, `nearest` and `copies` of the rules.

    A few arrays of records, because the compiler passes each array to each function separately.
    """

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n]
    node: npt.NDArray[np.void]  # [n] NODE
    candidates: npt.NDArray[np.void]  # [n, K] CANDIDATE: the most capable ones, in order
    nearest: npt.NDArray[np.void]  # [n, L] NEAREST brokers, in no order [drip §IV-B]
    routes: npt.NDArray[np.void]  # [n, ROUTES] ROUTE to another region, as bridge nodes reported
    intervals: npt.NDArray[np.void]  # [n, own] INTERVAL: own subscriptions [drip §V-A]
    known: EventWindows  # the newest events of each publisher that came here
    events: npt.NDArray[np.void]  # [n, slots] EVENT_SLOT
    # [n, slots, M] brokers that the event's source chose, if known [drip §V-B]
    relays: npt.NDArray[np.int32]
    register: npt.NDArray[np.void]  # [n, places] REGISTRATION
    contacts: npt.NDArray[np.void]  # [n, CONTACTS] CONTACT: other brokers


def blank_state(
    node_ids: npt.NDArray[np.int32], capability: npt.NDArray[np.float64], *, brokers: int,
    nearest: int, copies: int, window: int, publishers: int, own: int, intervals: int, seed: int,
) -> DripState:  # fmt: skip
    """Return the state of DRIP nodes before their start event, with empty tables.

    capability [n]; brokers, nearest, copies: of the rules. window: events in flight at a time; a
    node has room for twice as many. publishers: whose newest events a node distinguishes. own:
    intervals that a node may subscribe to; intervals: that all nodes together may subscribe to; a
    register has room for more, so it never overflows.
    """
    n = len(node_ids)
    slots = 2 << max(window - 1, 31).bit_length()
    hashed = 1 << max(2 * intervals - 1, 1).bit_length()
    ids = ("replaces", "electing_for", "best_candidate", "local_broker")
    node = _records(NODE, n, none=ids)
    node.capability = capability
    return DripState(
        node_id=node_ids,
        random_state=random_states(node_ids, seed),
        node=node,
        candidates=_records(CANDIDATE, n, brokers, none=("node_id",)),
        nearest=_records(NEAREST, n, nearest, none=("node_id", "via", "border_neighbour")),
        routes=_records(ROUTE, n, ROUTES, none=("to", "via")),
        intervals=_records(INTERVAL, n, own, none=("high",)),
        known=empty_windows(n, publishers),
        events=_records(EVENT_SLOT, n, slots, none=("flood_mark", "event", "publisher")),
        relays=np.full((n, slots, copies), NONE, np.int32),
        register=_records(REGISTRATION, n, hashed, none=("subscriber", "high")),
        contacts=_records(CONTACT, n, CONTACTS, none=("broker",)),
    )


def _records(kind: np.dtype[np.void], *shape: int, none: tuple[str, ...]) -> np.recarray[Any, Any]:
    """Return records of a DRIP state table: zeros, with -1 in the fields `none`."""
    made = np.zeros(shape, kind).view(np.recarray)
    for field in none:
        made[field] = -1
    return made
