"""The record kinds of GeoRendezvous, the fields of their records, and flags."""

from functools import partial

import numpy as np

from halfway.core.kinds import Channel, Kinds, MapRole
from halfway.core.values.ranges import (
    AGE_S,
    COUNT,
    NODE,
    NODE_OR_NONE,
    NUMBER_OR_NONE,
    SECONDS,
    below,
    whole,
)
from halfway.protocols.parts import application, link_test, reliable_hop

SUBSCRIBER = "target"  # header field of an INTEREST, PRUNE or REPLICATE: the entry's owner
# Places in `args` of routed messages:
GOAL_X, GOAL_Y = 0, 1  # the cell that the message is for
ENTRY_X, ENTRY_Y = 2, 3  # the cell where the message entered perimeter mode
POINT = 4  # which of the topic's rendezvous points
HOPS = 5
STEP = 6  # the direction from the previous cell to the cell that a member receives it in
REPORT = 7  # of a WANTED or UNWANTED: the number of this report at the member that reports
# In `reals`:
CLIENT_X, CLIENT_Y = 0, 1  # the client's cell
PREVIOUS = 2  # the cell of the previous hop, packed
MARK = 3  # in perimeter mode: a step into a cell that it has made, packed; 0: none
AGE = 4  # of an entry: seconds since its client renewed it
REPORTER = 4  # of a WANTED or UNWANTED: the member that reports
VERSION = 5  # of an INTEREST or PRUNE: its subscriber's count of changes; 0 where it only renews
# Of a replicated ADVERT: seconds from its last renewal to its first arrival at a home cell. After a
# renewal this is negative.
SINCE = 5
DETOUR = 5  # of a NOTIFY or NOTIFY_CLIENT: the part of HOPS charged for hops that failed
# In `flags`:
PERIMETER, ARRIVED, TRANSFERRED, WAITED = np.uint8(1), np.uint8(2), np.uint8(4), np.uint8(8)
HELD = np.uint8(16)  # the node once had no neighbour for the message
# Places in `args` of JOIN, HERE, HELLO, GONE and REPLICATE:
CELL_X, CELL_Y = 0, 1  # the sender's cell
ENTRY_KIND = 2  # of a REPLICATE: ADVERT, INTEREST or PRUNE
LINKS, ROOT, ROOT_SEQUENCE = 2, 3, 4  # of a LABELLED_HELLO
FIRST_BRIDGE = 2  # of a BRIDGES: up to six packed bridges; 0: no bridge
RELAYED = 16  # in STEP: from a member of the cell without a link to the next cell
# In `flags` of a REPLICATE:
IS_WANTED, NOTIFIED = np.uint8(1), np.uint8(2)
IS_HOME, NOT_HOME = np.uint8(4), np.uint8(8)  # a traversal ended in this cell; the home may move
STARTS = 0  # in `args` of timers: the value of `starts` when the node started them

_CELLS = ("cell", "client", "goal", "entry")
_CELL_NUMBER = whole(-(2**23), 2**23 - 1)  # two such numbers are packed into one real
KINDS = Kinds(
    {f"{cell} {way}": _CELL_NUMBER for cell in _CELLS for way in ("column", "row")}
    | {
        "previous cell": whole(-(2**48), 2**48), "mark": whole(-(2**52), 2**52),
        "step": whole(0, 24), "links": whole(0, 255), "root": NODE, "root sequence": COUNT,
        **{f"bridge {k}": whole(0, 2**17 - 1) for k in range(1, 7)},
        "entry kind": whole(20, 22), "point": below("points", 255),
        "report": COUNT, "reporter": NODE,
        "hops": whole(0, 2**16 - 1), "detour hops": whole(0, 2**16 - 1),
        "age_s": AGE_S, "version or first arrival": SECONDS, "publisher": NODE_OR_NONE,
        "the subscriber, or -1": NODE_OR_NONE, "starts": COUNT,
        "as in that record": NUMBER_OR_NONE,
    }
)  # fmt: skip
KINDS.include(application.KINDS)
KINDS.include(reliable_hop.KINDS)
KINDS.include(link_test.KINDS)
ADVERTISE = KINDS.command(6, "advertise", "the application will publish on `topic`", "topic")
UNADVERTISE = KINDS.command(
    7, "unadvertise", "the node stops renewing the advertisement", "topic", ends="advertise"
)
LEAVE = KINDS.command(9, "leave", "the node leaves its cell until a start event")
START = KINDS.start_event()

_CELL = {"cell column": CELL_X, "cell row": CELL_Y}
JOIN = KINDS.network(10, "join", "a newcomer enters a cell and asks for its members", args=_CELL)
HERE = KINDS.network(11, "here", "a member answers a newcomer", args=_CELL)
HELLO = KINDS.network(12, "hello", "a member of the cell sends its beacon", args=_CELL)
GONE = KINDS.network(13, "gone", "a member leaves its cell", args=_CELL)
LABELLED_HELLO = KINDS.network(
    15,
    "labelled-hello",
    "a member of a cell sends its beacon and the label of its component",
    args={**_CELL, "links": LINKS, "root": ROOT, "root sequence": ROOT_SEQUENCE},
)
BRIDGES = KINDS.network(
    16,
    "bridges",
    "a node joins empty cells, to link cells that do not touch",
    args={**_CELL, **{f"bridge {k}": FIRST_BRIDGE + k - 1 for k in range(1, 7)}},
)
_CLIENT = {"client column": CLIENT_X, "client row": CLIENT_Y}
_ROUTED = "flags target topic publisher sequence"
_ENTRY = "flags topic publisher sequence"
_SUBSCRIBER = {SUBSCRIBER: "the subscriber, or -1"}
_TIMES = {"age_s": AGE, "version or first arrival": VERSION}
REPLICATE = KINDS.network(
    14,
    "replicate",
    "a member sends an entry of its store to the members of the cell",
    _ENTRY,
    {**_CELL, "entry kind": ENTRY_KIND, "point": POINT},
    {**_CLIENT, **_TIMES},
    on_map=MapRole.HOME_CELL,
    reused=_SUBSCRIBER,
    age="age_s",
)

_ARGS = {
    "goal column": GOAL_X,
    "goal row": GOAL_Y,
    "entry column": ENTRY_X,
    "entry row": ENTRY_Y,
    "point": POINT,
    "hops": HOPS,
    "step": STEP,
}
_REALS = {**_CLIENT, "previous cell": PREVIOUS, "mark": MARK}
_STORED = {**_REALS, **_TIMES}
_EVENT = {**_REALS, "detour hops": DETOUR}
DROPPED = KINDS.timer(
    0,
    "dropped",
    "the node ignores a routed message that has no route",
    f"{_ROUTED} epoch",
    _ARGS,
    _STORED,
    reused={"event": "as in that record"},
)
# A node sends some routed messages to itself: messages that the node holds back, and messages that
# have arrived.
_routed = partial(KINDS.network, also=Channel.TIMER)
# To the home of a rendezvous point. Handlers compare kinds: ADVERT to NOTIFY_CLIENT are routed.
ADVERT = _routed(
    20, "advert", "`publisher` will publish on `topic`", _ROUTED, _ARGS, _STORED, age="age_s"
)
INTEREST = _routed(
    21,
    "interest",
    "a node subscribes to `topic`",
    _ENTRY,
    _ARGS,
    _STORED,
    reused=_SUBSCRIBER,
    age="age_s",
)
PRUNE = _routed(
    22,
    "prune",
    "a subscriber receives the events of `publisher` through another point",
    _ENTRY,
    _ARGS,
    _STORED,
    reused=_SUBSCRIBER,
    age="age_s",
)
NOTIFY = _routed(
    23,
    "notify",
    "an event travels to a rendezvous point",
    f"{_ROUTED} event epoch",
    _ARGS,
    _EVENT,
    on_map=MapRole.EVENT_HOP,
)
REHOME = _routed(
    24,
    "rehome",
    "a cell next to the home perimeter has filled, and the home must route its entries again",
    _ROUTED,
    _ARGS,
    _REALS,
)
# To a client, `target`; see `to_client`.
_REPORT = ({**_ARGS, "report": REPORT}, {**_REALS, "reporter": REPORTER})
WANTED = _routed(25, "wanted", "a point has a subscriber for `publisher`", _ROUTED, *_REPORT)
UNWANTED = _routed(26, "unwanted", "a point has no subscriber for `publisher`", _ROUTED, *_REPORT)
NOTIFY_CLIENT = _routed(
    27,
    "notify-client",
    "an event travels from a rendezvous point to a subscriber",
    f"{_ROUTED} event epoch",
    _ARGS,
    _EVENT,
    on_map=MapRole.EVENT_HOP,
)

_STARTED = {"starts": STARTS}
READY = KINDS.timer(30, "ready", "a newcomer has listened long enough", args=_STARTED)
BEACON = KINDS.timer(31, "beacon", "the next beacon is due", args=_STARTED)
RENEW = KINDS.timer(32, "renew", "the next renewal is due", args=_STARTED)
ANNOUNCE = KINDS.timer(33, "announce", "the announcement of a new label is due", args=_STARTED)
AGES = KINDS.ages  # of all kinds above, for the reliable hop
