"""The underlay-aware tree's records beside SIENA's, its scalars, and what a broker remembers."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.protocols.broker_trees import siena as broker_tree
from halfway.protocols.broker_trees.children import Kin, add_child, add_grandchild, kin
from halfway.protocols.broker_trees.client_state import NO_CLIENTS, Access, access
from halfway.protocols.broker_trees.siena import seats
from halfway.protocols.broker_trees.source_routes import NOBODY, Care, Ints, Lines, care, lines
from halfway.protocols.broker_trees.subscription_table import Table, table
from halfway.protocols.event_window import empty_window

# From the application: this broker leaves [uas Algorithm 2].
LEAVE = np.uint8(13)
TICK = np.uint8(14)  # a letter to oneself, once a period
# Between brokers; all go along paths, so args 0, 1, 3 and 5 are taken.
PING = np.uint8(15)  # to the parent; topic: a digest of what it holds for the child; args[WAY]
PONG = np.uint8(16)  # back by the same path; the NEWS; args[WAY]
HELD = np.uint8(17)  # topic: a filter that the parent holds for the child, if the digests differ
KIN = np.uint8(18)  # to the grandparent; topic: the sender's parent
JOIN = np.uint8(19)  # may I be your child?
WELCOME = np.uint8(20)  # you are my child; the NEWS; args[INSTEAD]: a broker that said it leaves
QUIT = np.uint8(21)  # I am no child of yours
LEAVING = np.uint8(22)  # to the parent: adopt my children
# Between a client's node and its broker, which is told of what it HELD likewise.
KEEP = np.uint8(23)  # topic: a digest of what the broker holds for it
KEPT = np.uint8(24)  # back by the same path; args[WAY] is MORE if the digests differ

# NEWS, of PONG and WELCOME: topic: the sender's parent; event: the root as the sender knows it.
HEIR = 2  # place in `args`: who succeeds the root
NEXT = 4  # of a root: its child after the heir
WAY = 6  # 0 direct, 1 second; plus MORE
MORE = 2  # of a PING: this is the path in use, `topic` counts; of a PONG: the digests differ
INSTEAD = 6  # of a WELCOME
DEPTH = 7  # brokers from the sender up to the root

DIRECT, SECOND = 0, 1
GONE = np.int32(-2)  # the parent of a broker that left

KINDS: dict[int, str] = {
    **broker_tree.KINDS,
    13: "leave",
    14: "tick",
    15: "ping",
    16: "pong",
    17: "held",
    18: "kin",
    19: "join",
    20: "welcome",
    21: "quit",
    22: "leaving",
    23: "keep",
    24: "kept",
}


class Rules(NamedTuple):
    """The scalars of the tree, the same on every node."""

    period_s: float  # seconds from a broker's PING to its next; more than there and back
    misses: int  # PINGs in a row without an answer after which a path is taken for dead
    tau_s: float  # seconds that a direct path may be dead before its child joins elsewhere [§4.1]
    until_s: float = math.inf  # seconds: nobody watches any more after that, so a run can end
    retries: int = 0  # of a hop that is not acknowledged; 0: nobody acknowledges
    patience_s: float = 1.0  # seconds until a hop counts as failed; more than there and back


class UnderlayTreeState(NamedTuple):
    """What a node remembers; a broker: who is above and below, by which ways, who wants what."""

    node_id: Ints  # [n]
    seat: Ints  # [n] row of a broker in what follows; -1 at a node that is none
    parent: Ints  # [brokers] C; NOBODY at the root, GONE at a broker that left
    grandparent: Ints  # [brokers] P; NOBODY below the root
    root: Ints  # [brokers] as last told
    heir: Ints  # [brokers] who succeeds the root, as last told; at the root: its first child
    next: Ints  # [brokers] at children of the root: its child after the heir
    before: Ints  # [brokers] at a root that succeeded another one: that one
    depth: Ints  # [brokers] brokers up to the root, as last told
    missed: npt.NDArray[np.int32]  # [brokers, 2] PINGs in a row without answer, by path
    since_s: npt.NDArray[np.float64]  # [brokers] when the direct path was found dead; inf: it lives
    asked: Ints  # [brokers] periods for which another parent has been asked for; 0: not at all
    moves: Ints  # [brokers] parents taken since the beginning
    moved_s: npt.NDArray[np.float64]  # [brokers] when the last of them was
    kin: Kin
    table: Table
    lines: Lines
    recent: Ints  # [brokers, window] newest events that passed
    access: Access
    care: Care


def state(
    node_ids: Ints,
    brokers: Ints,
    parents: Ints,
    slots: int,
    kin_slots: int,
    window: int,
    retries: int = 0,
    clients: Ints = NO_CLIENTS,
    wishes: int = 1,
    clients_each: int = 1,
) -> UnderlayTreeState:
    """Nodes of a finished overlay; `brokers` and `parents` are names by number, NOBODY for none.

    `slots` subscriptions, and `kin_slots` children and grandchildren, find room at each broker;
    `window` events may be on their way at a time. Of `clients` (names of nodes that watch their
    broker) each has room for so many `wishes`, of clients numbered below `clients_each`.
    """
    seat, mine = seats(node_ids, brokers)
    here, up = len(mine), parents.astype(np.int32)
    number = {int(node_id): k for k, node_id in enumerate(brokers)}
    above = np.array([up[number[int(p)]] if p != NOBODY else NOBODY for p in up], np.int32)
    row, below = {int(k): at for at, k in enumerate(mine)}, kin(here, kin_slots)
    depth = np.zeros(len(up), np.int32)
    for k, parent in enumerate(up):
        if parent != NOBODY and number[int(parent)] in row:
            add_child(below, row[number[int(parent)]], brokers[k])
        if above[k] != NOBODY and number[int(above[k])] in row:
            add_grandchild(below, row[number[int(above[k])]], brokers[k], parent)
        at = int(parent)
        while at != NOBODY:
            depth[k], at = depth[k] + 1, int(up[number[at]])
    root = brokers[int(np.flatnonzero(up == NOBODY)[0])]
    heirs = [*brokers[up == root], NOBODY, NOBODY][:2]

    def each(value: int) -> Ints:
        return np.full(here, value, np.int32)

    return UnderlayTreeState(
        node_ids, seat, up[mine], above[mine], each(root), each(heirs[0]), each(heirs[1]),
        each(-1), depth[mine], np.zeros((here, 2), np.int32), np.full(here, np.inf), each(0),
        each(0), np.full(here, -1.0), below, table(here, slots), lines(here, kin_slots + 1),
        empty_window(here, window),
        access(node_ids, clients, wishes, clients_each, window, here, slots), care(node_ids, retries),
    )  # fmt: skip


def most_emissions(state: UnderlayTreeState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    both = 2 * int(state.table.filter.shape[1]) + int(state.kin.child.shape[1])
    most = max(both, int(state.access.filter.shape[1])) + 8
    return broker_tree.with_care(most, rules.retries)
