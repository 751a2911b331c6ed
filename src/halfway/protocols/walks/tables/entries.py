"""The entries of the tables of a node in the walk systems: trails, paths, branches, trees, roles,
and buffered events.
"""

import numpy as np

from halfway.core.compiled import inlined

# Values of `status` in a TRAIL. FREE is 0, so that pages of a table that are always 0 take no
# memory.
FREE, HEARD, PASSED = 0, 1, 2
OPEN, ENDED = 1, 2  # of a PATH. ENDED: the member gave up its role; older PATHs are void
_WALKER = [
    ("status", "u1"),
    ("side", "u1"),
    ("member", "<i4"),  # node id
    ("incarnation", "<u4"),  # incarnation of the member at the launch
    ("generation", "<i4"),
    ("back", "<i4"),  # hop towards the member; the member itself has its own id
    ("since", "<f8"),  # seconds: arrival of this launch (trail), or begin of the path
]
# The trail of a member's latest walk. HEARD: `back` is a neighbour that advertised the trail.
TRAIL = np.dtype(
    [
        *_WALKER,
        ("met", "u1"),  # 1 where a MATCH of this launch passed
        ("steps", "<i4"),  # the last step of this launch that arrived here
        # Of a sweep: `parent` is the neighbour from which the sweep came, or the initiator itself.
        # `tried` is the neighbour to which the sweep went last; NONE: to no neighbour yet; itself:
        # the sweep has left for good.
        ("parent", "<i4"),
        ("tried", "<i4"),
    ]
)
# A path to a member. `back` only changes with the PATH of a later launch, which the next node had
# before. So paths have no loops.
PATH = np.dtype([*_WALKER, ("hops", "<i4")])
# What a node remembers of a neighbour that a sweep visited last.
SWEPT = np.dtype([("key", "<i4"), ("hops", "<i4")])  # key of launch and neighbour; hops to start
# A neighbour on the way between two members whose walks met.
BRANCH = np.dtype(
    [
        ("status", "u1"),  # FREE or OPEN
        ("to", "<i4"),  # node id
        ("since", "<f8"),  # seconds: when the branch was last used
    ]
)
# The tree of a topic that the node belongs to. Its root is a member.
TREE = np.dtype(
    [
        ("status", "u1"),  # FREE or OPEN
        ("root", "<i4"),  # node id
        ("incarnation", "<u4"),  # incarnation of the root
        ("generation", "<i4"),
        ("parent", "<i4"),  # hop towards the root; the root itself has its own id
        ("hops", "<i4"),  # hops to the root
        ("since", "<f8"),  # seconds: when the root sent this generation
        ("rooted", "<i4"),  # generations that this node sent as a root
    ]
)
# What a member knows of its own role on a topic.
ROLE = np.dtype(
    [
        ("held", "u1"),
        ("searches", "<u2"),  # searches of this launch so far, with a planned search
        ("matched", "u1"),  # the walk met another walk, or another walk met it
        ("reported", "u1"),  # 1: reported to the application for this launch
        ("incarnation", "<u4"),
        ("launches", "<i4"),  # launches of this incarnation, with searches
        ("latest", "<i4"),  # generation of the latest launch that was not a search
        ("unanswered", "<i4"),  # launches in a row without a meeting
        ("asked_at", "<f8"),  # seconds: when the application took the role
    ]
)
# An event that its publisher buffers for subscribers without a path.
BUFFERED_EVENT = np.dtype([("at", "<f8"), ("event", "<i4"), ("epoch", "<u4"), ("state", "u1")])
UNSENT, SENT_ONCE = 1, 2


@inlined
def is_later(one, other):
    """Return whether an entry of a walk member, or its walker, comes from a later launch than
    another entry of this member.
    """
    if one.incarnation != other.incarnation:
        return one.incarnation > other.incarnation
    return one.generation > other.generation


@inlined
def is_same(one, other):
    """Return whether two entries of one walk member, trails or paths, come from the same launch of
    its walk.
    """
    return one.incarnation == other.incarnation and one.generation == other.generation


@inlined
def has_expired(rules, since, now):
    """Return whether an entry of a walk system's table (a trail, path, branch or tree) has expired,
    by the time of its last renewal.
    """
    # An entry expires after twice the refresh time: the next launch begins after one refresh time,
    # and its news takes time to arrive.
    return now - since > 2.0 * rules.refresh_s


@inlined
def is_open(rules, path, now):
    """Return whether an entry of a path or a branch of a walk system is in use: open and not
    expired.
    """
    return path.status == OPEN and not has_expired(rules, path.since, now)


@inlined
def write_walker(known, status, walker, back, now):
    """Write a walker into an entry of a walk system's table, a trail or a path."""
    known.status = status
    known.side = walker.side
    known.member = walker.member
    known.incarnation = walker.incarnation
    known.generation = walker.generation
    known.back = back
    known.since = now
