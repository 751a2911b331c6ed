"""The underlay-aware broker tree, message by message: detours, adoption, a parent that is left.

[uas §4.1] a dead direct path is replaced by the one over the alternate; after τ the child joins
its grandparent; a broker dead on both paths is replaced by its parent, which adopts its children.
We let the underlay's monitor tell a broker which of its paths are dead (DOWN, DEAD, UP), because
[uas §2] has brokers watch their paths; a message lost before the monitor notices stays lost.
We adopt without an alternate, because only the underlay knows disjoint paths: it is told (ROUTED).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel
from halfway.core.handler import handles
from halfway.core.outbox import emit
from halfway.protocols import broker_tree
from halfway.protocols.broker_tree import Book, serve
from halfway.protocols.kinship import (
    NONE,
    Kin,
    add_child,
    add_grandchild,
    alternate_of,
    drop_child,
    drop_grandchild,
    drop_grandchildren,
    kin,
)
from halfway.protocols.subscriptions import (
    CLIENT,
    FREE,
    NOBODY,
    NOTIFY,
    ORIGIN,
    PUBLISH,
    SUBSCRIBE,
    UNWANT,
    WANT,
    Detours,
    Table,
    detours,
    leave_all,
    offer_uncovered,
    send,
    table,
)

__all__ = ["CLIENT", "KINDS", "PUBLISH", "SUBSCRIBE", "Book", "Rules", "State", "handle", "state"]

# From the monitor of a broker's own paths; topic: the broker at their other end.
DOWN = np.uint8(8)  # the direct path is dead
UP = np.uint8(9)  # it is back
DEAD = np.uint8(10)  # both paths are dead [uas §4.1]: the broker is taken for failed
ROUTED = np.uint8(11)  # topic: the alternate that now leads to the parent
# From the application: this broker leaves [uas Algorithm 2].
LEAVE = np.uint8(12)
TAU = np.uint8(13)  # a letter to oneself; topic: the parent whose path was dead τ ago
# Between brokers.
JOIN = np.uint8(14)  # args[ALTERNATE]; to the new parent
WELCOME = np.uint8(15)  # args[ABOVE]: the parent's parent; who gets it is a child from now on
KIN = np.uint8(16)  # topic: the sender's parent; to the grandparent
ABOVE_IS = np.uint8(17)  # topic: the sender's parent; to its children
FAILED = np.uint8(18)  # topic: a child of the receiver; from that one's children, or itself
QUIT = np.uint8(19)  # the sender is no child of the receiver any more
NO_KIN = np.uint8(20)  # topic: a child that the sender lost; to its parent

ALTERNATE, ABOVE = 4, 5  # places in `args`

KINDS: dict[int, str] = {
    **broker_tree.KINDS,
    8: "down",
    9: "up",
    10: "dead",
    11: "routed",
    12: "leave",
    13: "tau",
    14: "join",
    15: "welcome",
    16: "kin",
    17: "above is",
    18: "failed",
    19: "quit",
    20: "no kin",
}


class Rules(NamedTuple):
    """The scalars of the tree, the same on every broker."""

    tau: float  # seconds that a direct path may be dead before its child joins elsewhere [uas §4.1]


class UnderlayTreeState(NamedTuple):
    """What a broker remembers: who is above, by which ways, who is below, who wants what."""

    name: npt.NDArray[np.int32]  # [n]
    parent: npt.NDArray[np.int32]  # [n] C; NOBODY at the root and at a broker that left
    alternate: npt.NDArray[np.int32]  # [n] A; NOBODY where there is none
    grandparent: npt.NDArray[np.int32]  # [n] P
    kin: Kin
    table: Table
    detours: Detours


State = UnderlayTreeState


def state(
    names: npt.NDArray[np.int32],
    parents: npt.NDArray[np.int32],
    alternates: npt.NDArray[np.int32],
    slots: int,
    kin_slots: int,
) -> UnderlayTreeState:
    """Brokers of a finished overlay; parents and alternates [brokers] by name, NOBODY for none.

    `slots` subscriptions and `kin_slots` children, and as many grandchildren, find room at each.
    """
    n = len(names)
    up = parents.astype(np.int32)
    above = np.where(up[names] >= 0, up[up[names]], NOBODY).astype(np.int32)
    below = kin(n, kin_slots)
    row = {int(name): i for i, name in enumerate(names)}
    for child, parent in enumerate(up):
        if int(parent) in row:
            add_child(below, row[int(parent)], child, alternates[child])
        grandparent = up[parent] if parent >= 0 else NOBODY
        if int(grandparent) in row:
            add_grandchild(below, row[int(grandparent)], child, parent)
    second = alternates.astype(np.int32)[names]
    return UnderlayTreeState(
        names, up[names], second, above, below, table(n, slots), detours(n, kin_slots + 1)
    )


def most_emissions(state: UnderlayTreeState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    del rules
    return 2 * int(state.table.filter.shape[1]) + 2 * int(state.kin.child.shape[1]) + 5


@kernel
def detour(state, i, peer, hop):
    """Reach a peer over another broker from now on; over NOBODY: directly."""
    lines = state.detours
    free = -1
    for s in range(lines.peer.shape[1] - 1, -1, -1):
        if lines.peer[i, s] == peer:
            lines.peer[i, s] = NOBODY
        if lines.peer[i, s] == NOBODY:
            free = s
    if hop != NOBODY and free >= 0:
        lines.peer[i, free], lines.hop[i, free] = peer, hop


@inlined
def has_detour(state, i, peer):
    """Whether a peer is reached over another broker."""
    found = False
    for s in range(state.detours.peer.shape[1]):
        found = found or state.detours.peer[i, s] == peer
    return found


@kernel
def avoid(state, rules, i, peer, out):
    """[uas §4.1] "the alternate link is used", and τ runs where the peer is the parent."""
    if peer == state.parent[i]:
        detour(state, i, peer, state.alternate[i])
        o = emit(out, TAU, rules.tau, state.name[i])
        o.topic = peer
    else:
        detour(state, i, peer, alternate_of(state.kin, i, peer))


@kernel
def lose(state, book, i, child, out):
    """A child is no child any more: forget what it wanted, and have the parent forget it."""
    own, up = state.name[i], state.parent[i]
    detour(state, i, child, NOBODY)
    leave_all(state.table, book.filters, state.detours, own, i, child, NOBODY, up, out)
    if up != NOBODY:
        o = send(state.detours, i, own, NO_KIN, up, out)
        o.topic = child


@kernel
def adopt(state, book, i, failed, out):
    """[uas §4.1] the Leave of a child, on its behalf: its children become this broker's own."""
    own, kin = state.name[i], state.kin
    if not drop_child(kin, i, failed):
        return
    lose(state, book, i, failed, out)
    for s in range(kin.grandchild.shape[1]):
        if kin.between[i, s] == failed:
            add_child(kin, i, kin.grandchild[i, s], NONE)
            o = send(state.detours, i, own, WELCOME, kin.grandchild[i, s], out)
            o.args[ABOVE] = state.parent[i]
    drop_grandchildren(kin, i, failed)


@kernel
def come_under(state, book, i, parent, above, out):
    """A new parent: tell it what is wanted here, tell the children who is above them now."""
    own, held = state.name[i], state.table
    detour(state, i, state.parent[i], NOBODY)
    state.parent[i], state.grandparent[i], state.alternate[i] = parent, above, NOBODY
    for s in range(held.filter.shape[1]):
        if held.filter[i, s] != FREE:
            held.told[i, s] = 0
    offer_uncovered(held, book.filters, state.detours, own, i, parent, out)
    if above != NOBODY:
        o = send(state.detours, i, own, KIN, above, out)
        o.topic = parent
    for s in range(state.kin.child.shape[1]):
        if state.kin.child[i, s] != NONE:
            o = send(state.detours, i, own, ABOVE_IS, state.kin.child[i, s], out)
            o.topic = parent


@kernel
def watch(state, rules, book, i, message, out):
    """What the monitor says of this broker's paths."""
    own, peer = state.name[i], message.topic
    if message.kind == DOWN:
        avoid(state, rules, i, peer, out)
    elif message.kind == UP:
        detour(state, i, peer, NOBODY)
    elif message.kind == ROUTED:
        state.alternate[i] = peer
        if state.parent[i] != NOBODY:
            o = send(state.detours, i, own, JOIN, state.parent[i], out)
            o.args[ALTERNATE] = peer
    elif message.kind == DEAD:
        if peer == state.parent[i] and state.grandparent[i] != NOBODY:
            o = emit(out, FAILED, 0.0, state.grandparent[i])  # by z, which no detour concerns
            o.topic, o.target, o.args[ORIGIN] = peer, state.grandparent[i], own
        else:
            adopt(state, book, i, peer, out)
    elif (
        message.kind == TAU
        and peer == state.parent[i]
        and has_detour(state, i, peer)
        and state.grandparent[i] != NOBODY
    ):
        send(state.detours, i, own, QUIT, peer, out)
        o = emit(out, JOIN, 0.0, state.grandparent[i])
        o.target, o.args[ORIGIN], o.args[ALTERNATE] = state.grandparent[i], own, NOBODY


@kernel
def be_kin(state, book, i, message, out):
    """What other brokers say of who is whose child."""
    own, source = state.name[i], message.args[ORIGIN]
    if message.kind == JOIN:
        add_child(state.kin, i, source, message.args[ALTERNATE])
        o = send(state.detours, i, own, WELCOME, source, out)
        o.args[ABOVE] = state.parent[i]
    elif message.kind == WELCOME:
        if source != state.parent[i]:
            come_under(state, book, i, source, message.args[ABOVE], out)
    elif message.kind == KIN:
        add_grandchild(state.kin, i, source, message.topic)
    elif message.kind == ABOVE_IS:
        if source == state.parent[i]:
            state.grandparent[i] = message.topic
            o = emit(out, KIN, 0.0, message.topic)
            o.topic, o.target, o.args[ORIGIN] = source, message.topic, own
    elif message.kind == NO_KIN:
        drop_grandchild(state.kin, i, message.topic, source)
    elif message.kind == FAILED:
        adopt(state, book, i, message.topic, out)
    elif message.kind == QUIT and drop_child(state.kin, i, source):
        lose(state, book, i, source, out)
        drop_grandchildren(state.kin, i, source)


@kernel
def pass_on(message, out):
    """An alternate hands a message on to whom it is for."""
    o = emit(out, message.kind, 0.0, message.target)
    o.target, o.topic, o.event = message.target, message.topic, message.event
    for a in range(8):
        o.args[a] = message.args[a]


@handles(UnderlayTreeState)
def handle(state, rules, around, book, i, message, out):
    """A broker's whole behaviour, one message at a time."""
    kind, own, up = message.kind, state.name[i], state.parent[i]
    if kind in (WANT, UNWANT, NOTIFY) or JOIN <= kind <= NO_KIN:
        if message.target != own:
            pass_on(message, out)
        elif kind >= JOIN:
            be_kin(state, book, i, message, out)
        else:
            serve(state.table, book, state.detours, i, own, up, message, out)
    elif DOWN <= kind <= TAU and kind != LEAVE:
        watch(state, rules, book, i, message, out)
    elif kind == LEAVE:
        if up != NOBODY:  # the root has nobody who could take over
            o = send(state.detours, i, own, FAILED, up, out)
            o.topic = own
            state.parent[i] = NOBODY
    else:
        serve(state.table, book, state.detours, i, own, up, message, out)
