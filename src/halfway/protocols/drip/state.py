"""What nodes of DRIP remember, and the kinds of their records; who may write what is elsewhere."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.message import START
from halfway.core.prng import random_states
from halfway.protocols.flooding import DELIVERED, PUBLISH, SUBSCRIBE

# Kinds beside those of the application (PUBLISH, SUBSCRIBE, DELIVERED), which are flooding's.
# To everyone near:
ABILITY = 16  # `target` can detect that much
BEACON = 17  # [drip §IV-B] the broker `target` exists; `topic`: the local broker of who repeats it
FLOOD = 18  # an event, in the region `target`
CALL = 19  # the broker `target` is gone: who of its region is the ablest?
# Hop by hop to the broker `target`:
REPORT = 20  # [drip §V-B] from a bridge node: there is a way to the broker args[OTHER]
REGISTER = 21  # subscriptions of a node of the region
QUIT = 22  # they are registered elsewhere from now on
NEWS = 23  # an event, to the local broker of whoever passes it on
SUBSCRIPTION = 24  # between brokers: one that the other may not know
EVENT = 25  # between brokers: a copy
# To oneself:
ELECT = 26  # the bootstrap is over
TICK = 27  # once a period
PARKED = 28  # try again what `flags` says
SETTLE = 29  # a call is over, or nobody came of it

KINDS = {
    PUBLISH: "publish",
    DELIVERED: "delivered",
    SUBSCRIBE: "subscribe",
    ABILITY: "ability",
    BEACON: "beacon",
    FLOOD: "flood",
    CALL: "call",
    REPORT: "report",
    REGISTER: "register",
    QUIT: "quit",
    NEWS: "news",
    SUBSCRIPTION: "subscription",
    EVENT: "event",
    ELECT: "elect",
    TICK: "tick",
    PARKED: "parked",
    SETTLE: "settle",
    int(START): "boot",
}

# Places in `args`. A DIGEST says which events, bit by bit from the id `event` on, a broker holds.
SEQUENCE, STANDS_FOR, DIGEST = 0, 1, 2  # of a BEACON; DIGEST of a REPORT as well
OTHER = 0  # of a REPORT
VERSION, BASE, KEY, NEAR = 0, 1, 2, 3  # of a REGISTER; but for BASE of a SUBSCRIPTION, a QUIT
TELLER = 1  # of a SUBSCRIPTION: the broker that sends it
ROLE, RELAYS = 0, 1  # of an EVENT; the first MOST_RELAYS that its source chose
ROUND = 0  # of a FLOOD
CANDIDATE = 0  # of a CALL
IN_VAIN = 0  # of a SETTLE: 1 when whoever took the place should have been heard
BOOT_NUMBER = 0  # of a TICK
# Places in `reals`.
SINCE = 0  # of a BEACON: seconds, when its broker sent it
SKILL = 0  # of an ABILITY and a CALL
TRIES = 5  # of whatever is PARKED: how often it was
WORDS, SEEN_WORDS = 6, 5  # 32 events each; the latter in the reals of a REGISTER
MOST_NEAREST = 5  # brokers that fit a REGISTER
MOST_RELAYS = 7  # and an EVENT

# What a broker may do with its copy of an event; more is better.
NOTHING, GONE, DESTINATION, RELAY, SOURCE = 0, 1, 2, 3, 4
NOBODY = np.int32(-1)
MOST_HOPS = 64  # of what goes hop by hop: routes of moving nodes may circle
EXITS = 16  # ways out of the region that a node remembers
CONTACTS = 32  # brokers whose knowledge a broker keeps account of; bits of `knows`


class Rules(NamedTuple):
    """The scalars of DRIP, the same on every node."""

    brokers: int  # [drip §IV-A] k
    nearest: int  # [drip §IV-B] l: brokers that a node keeps; l + m < k
    copies: int  # [drip §V-B] m: brokers that relay an event of a source
    epidemic: bool  # [drip §VI-A] SF: events go to every broker there is
    by_ability: bool  # brokers are the ablest; else they are drawn
    replace: bool  # ours: the region of a broker that is gone elects another
    period: float  # seconds between a broker's broadcasts, and between a bridge's reports
    expiry: float  # seconds after which what was not heard again is forgotten
    election: float  # seconds that the bootstrap takes
    renew: float  # seconds after which a subscriber registers anew, if it did not move before
    exchange: float  # seconds, at least, between telling the same broker of subscriptions
    patience: float  # seconds until a hop that nobody takes is tried again
    tries: int  # times that it is tried
    wait: float  # seconds; a flood is repeated after a part of it
    space: int  # [drip §V-A] events that a broker has room for
    batch: int  # subscriptions told, and events flooded anew, at most in one go
    handed: int  # events handed to another broker at most in one go
    rest: float  # seconds, at least, from handing over to the next time, whoever the other one is
    until: float  # seconds: nothing periodic begins after that time, so that a run can end


# What is kept of one node; times in seconds.
ME = np.dtype(
    [
        ("ability", "<f8"),  # ξ, or a lot where brokers are drawn
        ("best_skill", "<f8"),
        ("renewed", "<f8"),  # when it registered last
        ("rested", "<f8"),  # when it may hand over events again
        ("boots", "<i4"),  # BOOTs so far: a TICK of an older one is void
        ("stands_for", "<i4"),  # the broker that this one replaces, -1
        ("sequence", "<i4"),  # of its last beacon
        ("called", "<i4"),  # the broker in whose place it awaits another, -1
        ("best", "<i4"),  # the ablest that answered
        ("home", "<i4"),  # the local broker, -1
        ("version", "<i4"),  # of its last registration
        ("newest", "<i4"),  # the newest event that it heard of, -1
        ("change", "<i4"),  # changes of its register so far
        ("live", "<i4"),  # events that take up space
        ("lost", "<u4"),  # messages that found no way on, or no end
        ("elected", "<u2"),  # 1 when the bootstrap is over
        ("broker", "<u2"),  # 1 for a broker
    ],
    align=True,
)
ABLE = np.dtype([("skill", "<f8"), ("node_id", "<i4"), ("pad", "<i4")])
NEAREST = np.dtype(
    [
        ("delay", "<f8"),  # microseconds
        ("at", "<f8"),  # when its last beacon came
        ("door_at", "<f8"),  # when the door said so
        ("node_id", "<i4"),  # -1: nobody
        ("sequence", "<i4"),
        ("via", "<i4"),  # neighbour that told
        ("door", "<i4"),  # a neighbour in that broker's region
        ("eldest", "<i4"),  # first event of its digest
        ("digest", "<i4", (WORDS,)),
        ("pad", "<i4"),
    ]
)
EXIT = np.dtype([("at", "<f8"), ("to", "<i4"), ("via", "<i4")])
WISH = np.dtype([("low", "<i4"), ("high", "<i4")])  # topics, both included; high < low: none
# An event at place e % window: what a node was told and repeated, and a broker's copy.
HEARD = np.dtype(
    [
        ("at", "<f8"),  # when the copy came
        ("mark", "<i8"),  # region and round of the flood that was repeated last
        ("seen", "<i4"),  # the event that the application was told
        ("flooded", "<i4"),  # the event that was repeated
        ("held", "<i4"),  # the event of the copy, -1
        ("topic", "<i4"),
        ("rounds", "<i4"),  # times that the region was flooded
        ("role", "<i4"),
    ]
)
# A broker's register, hashed by key; a place is never given back, so that what comes late is known
# to be late.
ENTRY = np.dtype(
    [
        ("key", "<i4"),  # subscriber x own + number of its interval; -1
        ("version", "<i4"),  # 0: nothing but a QUIT is known
        ("quit", "<i4"),  # registrations up to that one have ended here
        ("local", "<i4"),  # 1: registered here
        ("low", "<i4"),
        ("high", "<i4"),
        ("knows", "<u4"),  # a bit for each account: that broker knows this version
        ("near", "<i4", (MOST_NEAREST,)),  # brokers that its subscriber is near to
    ]
)
CONTACT = np.dtype(
    [
        ("at", "<f8"),  # when it was met last
        ("next", "<f8"),  # when it may be told of subscriptions again
        ("broker", "<i4"),
        ("told", "<i4"),  # changes of the register when it had been told of all
        ("place", "<i4"),  # of the register, where telling goes on
        ("pad", "<i4"),
    ]
)


class VoronoiState(NamedTuple):
    """Everything that a node remembers; K, L, M: brokers, nearest, copies of the rules.

    Few arrays of records, because the compiler passes each array to each function one by one.
    """

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n]
    me: npt.NDArray[np.void]  # [n] ME
    able: npt.NDArray[np.void]  # [n, K] ABLE: the bootstrap's ablest, in order
    near: npt.NDArray[np.void]  # [n, L] NEAREST brokers, in no order
    exits: npt.NDArray[np.void]  # [n, EXITS] EXIT: ways out of the region, as bridges told them
    wish: npt.NDArray[np.void]  # [n, own] WISH: the local copy of the subscriptions [drip §V-A]
    heard: npt.NDArray[np.void]  # [n, window] HEARD
    relays: npt.NDArray[np.int32]  # [n, window, M] who gets the source's copies, as far as known
    register: npt.NDArray[np.void]  # [n, places] ENTRY
    contacts: npt.NDArray[np.void]  # [n, CONTACTS] CONTACT: brokers met, and what they were told


State = VoronoiState


def state(
    node_ids: npt.NDArray[np.int32],
    rules: Rules,
    ability: npt.NDArray[np.float64],
    *,
    window: int,
    own: int,
    intervals: int,
    seed: int,
) -> VoronoiState:
    """Nodes that know nobody, hold nothing, and wait for their BOOT.

    window: events that may be on their way, rounded up to a power of two. own: intervals that a
    node may subscribe to. intervals: that all nodes together may subscribe to; a register has room
    for more than these, so that it never turns one away. ability [n].
    """
    n = len(node_ids)
    wide = 1 << max(window - 1, 31).bit_length()
    hashed = 1 << max(2 * intervals - 1, 1).bit_length()
    me = _records(ME, n, none=("stands_for", "called", "best", "home", "newest"))
    me.ability = ability
    return VoronoiState(
        node_id=node_ids,
        random_state=random_states(node_ids, seed),
        me=me,
        able=_records(ABLE, n, rules.brokers, none=("name",)),
        near=_records(NEAREST, n, rules.nearest, none=("name", "via", "door")),
        exits=_records(EXIT, n, EXITS, none=("to", "via")),
        wish=_records(WISH, n, own, none=("high",)),
        heard=_records(HEARD, n, wide, none=("mark", "seen", "flooded", "held")),
        relays=np.full((n, wide, rules.copies), -1, np.int32),
        register=_records(ENTRY, n, hashed, none=("key", "high")),
        contacts=_records(CONTACT, n, CONTACTS, none=("broker",)),
    )


def _records(kind: np.dtype[np.void], *shape: int, none: tuple[str, ...]) -> np.recarray[Any, Any]:
    """Records of zeros, with -1 in the fields that name somebody."""
    made = np.zeros(shape, kind).view(np.recarray)
    for field in none:
        made[field] = -1
    return made


def most_emissions(state: VoronoiState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    return 2 * rules.batch + rules.handed + 2 * int(state.wish.shape[1]) + 8
