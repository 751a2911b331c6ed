"""The state of a DRIP node: record types of its tables, and the empty state."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.missing import NONE
from halfway.core.prng import random_states
from halfway.protocols.drip.messages import DIGEST_WORDS, MORE_DIGEST_WORDS, MOST_NEAREST
from halfway.protocols.parts.event_window import WINDOW, EventWindows, empty_windows

# Roles of a broker's copy of an event. A higher role gives the broker more rights on the copy.
NOTHING, DELETED, DESTINATION, RELAY, SOURCE = 0, 1, 2, 3, 4
ROUTES = 16  # routes to other regions that a node remembers
CONTACTS = 32  # other brokers that a broker keeps track of; each has a bit of `known_by`

# Scalars of a node; times in seconds.
NODE = np.dtype(
    [
        ("capability", "<f8"),  # [drip §IV-A] ξ, or a random number where brokers are drawn
        ("best_capability", "<f8"),
        ("registered_at", "<f8"),
        ("transfer_at", "<f8"),  # when the broker may transfer events again
        ("starts", "<i4"),  # start events so far; a TICK of an older start is void
        ("replaces", "<i4"),  # the lost broker that this broker replaces; -1: none
        ("beacon_sequence", "<i4"),  # of the broker's last beacon
        ("electing_for", "<i4"),  # the lost broker of the present election; -1: none
        ("best_candidate", "<i4"),  # best candidate of the present election
        ("local_broker", "<i4"),  # [drip §IV-A] broker of the node's region; -1: none
        ("version", "<i4"),  # version of the node's last registration
        ("first_round", "<i4"),  # round of the first flood of an event in this incarnation
        ("arrivals", "<i4"),  # events so far; the count at its arrival is an event's order
        ("changes", "<i4"),  # changes of the broker's register so far
        ("held_events", "<i4"),  # copies that count against the capacity
        ("lost", "<u4"),  # records dropped after too many retries or hops
        ("forgotten", "<u4"),  # event copies replaced by later events in a full table
        ("unoffered", "<u4"),  # held event copies that are not among the newest any more
        ("lost_routes", "<u4"),  # routes in use that a later route replaced in a full table
        ("lost_contacts", "<u4"),  # contacts that a later contact replaced in a full table
        ("lost_intervals", "<u4"),  # own subscriptions for which the full table had no room
        ("unregistered", "<u4"),  # records of subscriptions for which the register had no room
        ("bootstrapped", "<u2"),  # 1 when the first election is over
        ("ignored_beacon", "<u2"),  # 1 after a beacon of a node outside the list of neighbours
        ("prolonged", "<u2"),  # times that the node prolonged its first election
        ("is_broker", "<u2"),
    ],
    align=True,
)
CANDIDATE = np.dtype([("capability", "<f8"), ("node_id", "<i4")], align=True)
NEAREST = np.dtype(
    [
        ("delay_us", "<f8"),  # [drip §IV-B] delay of the path to the broker
        ("heard_at", "<f8"),  # when the broker's last beacon came
        ("border_at", "<f8"),  # when the border neighbour was last heard in that region
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
# An event, hashed by its id: what a node repeated and delivered, and the copy of a broker.
EVENT_SLOT = np.dtype(
    [
        ("held_at", "<f8"),  # when the copy came
        ("flood_mark", "<i8"),  # region and round of the flood that was repeated last; -1: none
        ("event", "<i4"),  # the publisher's number of the event; -1: free
        ("publisher", "<i4"),
        ("epoch", "<u4"),
        ("order", "<i4"),  # order of arrival at this node
        ("topic", "<i4"),
        ("rounds", "<i4"),  # round of the next flood of the region
        ("role", "<i4"),  # NOTHING: the node never had a copy
        ("seen", "<i4"),  # 1: delivered or published at this node
        # The entry at place p has the slot of the event whose order of arrival is p, modulo the
        # slots.
        ("recent", "<i4"),
        ("known_by", "<u4"),  # a bit for each contact that sent or got the event
    ]
)
# A broker's register of subscriptions [drip §V-A], hashed by key. Places are never freed, so that a
# record that arrives late is recognised as old.
REGISTRATION = np.dtype(
    [
        ("subscriber", "<i4"),  # node id; -1: free
        ("number", "<i4"),  # number of the subscriber's interval
        ("version", "<i4"),  # 0: only a QUIT has arrived
        ("quit", "<i4"),  # versions up to this number are not local
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
        ("exchange_at", "<f8"),  # when subscriptions may go to this broker again
        ("broker", "<i4"),
        ("changes", "<i4"),  # changes of the register when all of it had been sent
        ("place", "<i4"),  # place of the register where sending continues
    ],
    align=True,
)


class DripState(NamedTuple):
    """The state of nodes of DRIP, where K, L and M are `brokers`, `nearest` and `copies` of the
    rules.

    The state has few arrays with records of many fields, because the compiler passes each array to
    each function separately.
    """

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n]
    node: npt.NDArray[np.void]  # [n] NODE
    candidates: npt.NDArray[np.void]  # [n, K] CANDIDATE: the most capable nodes, in order
    nearest: npt.NDArray[np.void]  # [n, L] NEAREST brokers, in no order [drip §IV-B]
    routes: npt.NDArray[np.void]  # [n, ROUTES] ROUTE to another region, as bridge nodes reported
    intervals: npt.NDArray[np.void]  # [n, own] INTERVAL: own subscriptions [drip §V-A]
    known: EventWindows  # the newest events of each publisher that reached the node
    events: npt.NDArray[np.void]  # [n, slots] EVENT_SLOT
    # [n, slots, M] the relays that the event's source chose, if known [drip §V-B]
    relays: npt.NDArray[np.int32]
    register: npt.NDArray[np.void]  # [n, places] REGISTRATION
    contacts: npt.NDArray[np.void]  # [n, CONTACTS] CONTACT: other brokers


def blank_state(
    node_ids: npt.NDArray[np.int32], capability: npt.NDArray[np.float64], *, brokers: int,
    nearest: int, copies: int, window: int, publishers: int, own: int, intervals: int, seed: int,
    in_flight: int = WINDOW,
) -> DripState:  # fmt: skip
    """Return the state of DRIP nodes before their start event, with empty tables.

    capability: [n]; brokers, nearest, copies: as in the rules. window: events in flight at a time;
    a node has room for twice as many. publishers: number of publishers whose `in_flight` newest
    events a node distinguishes. own: number of intervals to which one node may subscribe.
    intervals: number of intervals to which all nodes together may subscribe; a register has room
    for more, so it never overflows.
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
        known=empty_windows(n, publishers, in_flight),
        events=_records(EVENT_SLOT, n, slots, none=("flood_mark", "event", "publisher")),
        relays=np.full((n, slots, copies), NONE, np.int32),
        register=_records(REGISTRATION, n, hashed, none=("subscriber", "high")),
        contacts=_records(CONTACT, n, CONTACTS, none=("broker",)),
    )


def _records(kind: np.dtype[np.void], *shape: int, none: tuple[str, ...]) -> np.recarray[Any, Any]:
    """Return the records of one table in a DRIP state: all fields are 0, and the fields `none` are
    -1.
    """
    made = np.zeros(shape, kind).view(np.recarray)
    for field in none:
        made[field] = -1
    return made
