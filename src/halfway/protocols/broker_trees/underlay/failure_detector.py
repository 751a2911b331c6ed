"""The failure detector of the underlay-aware tree: brokers PING their parent on both paths.

[uas §2] "The overlay topology should periodically monitor the node capabilities and link
qualities". The paper does not state how. We let every broker PING its parent on both paths in each
interval. A path is dead after `missed_pings` PINGs without an answer, and a parent counts the
silent intervals of its children. A PING also carries a digest of the filters that the parent should
hold for the child, so that filters lost on a dead path are repaired when the path works again.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.core.prng import mixed, uniform
from halfway.protocols.broker_trees.paths.ancestors import SEEKING
from halfway.protocols.broker_trees.paths.circuits import send_along
from halfway.protocols.broker_trees.paths.decisions import CUT_OFF, DIRECT, SECOND, next_hop_up
from halfway.protocols.broker_trees.paths.peer_paths import (
    active_path,
    clear,
    direct_path,
    note_trip,
    reply,
    second_path,
    send,
    use_direct_again,
    use_path,
)
from halfway.protocols.broker_trees.records.messages import DIGEST, JOIN, NUMBER, ORIGIN, PARENT
from halfway.protocols.broker_trees.tables.table_repair import (
    filters_digest,
    send_forwarded,
    send_held,
)
from halfway.protocols.broker_trees.underlay import child_changes, parent_search, underlay_parent
from halfway.protocols.broker_trees.underlay.children import (
    add_child,
    age,
    first_child,
    reset_silence,
)
from halfway.protocols.broker_trees.underlay.path_waits import missed, note_pong, trip_s
from halfway.protocols.broker_trees.underlay.replicas import drop_replicas
from halfway.protocols.broker_trees.underlay.underlay_messages import (
    DIGEST_BIT,
    GRANDCHILD,
    LEAST_S,
    PATH,
    PING,
    PONG,
    REPLICA_DIGEST,
    TICK,
    TRIP_S,
)
from halfway.protocols.parts.incarnation_numbers import number_before
from halfway.protocols.parts.row_search import place_in_row

_NUMBERS = np.int32(2**31 - 1)  # largest number of a PING, after which the numbers start again


@apart
def start_ticks(rules, own, out):
    """Start the ticks of a broker's failure detector, at an offset of its own in the interval."""
    wait_s = rules.ping_interval_s * (0.5 + 0.5 * uniform(mixed(np.uint64(own))))
    emit(out, TICK, wait_s, own)


@apart
def on_start(state, rules, sender, out):
    """Start a broker's failure detector, also after a crash: start its ticks, and send its parent a
    JOIN.

    A broker that lost its memory always joins the tree, because the broker does not know whether it
    was up before.
    """
    b = sender.broker
    underlay_parent.reset_watch(state, b)
    first = number_before(np.uint32(state.searches.incarnation[b]))
    for path in range(state.pings.shape[1]):
        state.pings[b, path] = max(state.pings[b, path], first)
    for s in range(state.paths.peer.shape[1]):
        clear(state.paths, b, s)
    for s in range(state.children.child.shape[1]):
        reset_silence(state.children, b, s)
    start_ticks(rules, sender.own, out)
    if state.parent[b] == NONE:
        state.asked[b] = 1
    elif state.parent[b] >= 0:
        send(sender, JOIN, state.parent[b], out)


@apart
def detect_failures(state, rules, sender, now, out):
    """Check a broker's parent and children for failures, once a ping interval."""
    age(state.children, sender.broker, rules.missed_pings + 2)
    drop_replicas(state.replicas, state.children.grandchild, sender.broker)
    up = state.parent[sender.broker]
    if up == NONE:
        act_as_root(state, rules, sender, out)
    elif up >= 0:
        check_parent(state, rules, sender, now, out)
    elif up == SEEKING and state.asked[sender.broker] > 0:
        parent_search.search_parent(state, rules, sender, now, out)
    check_children(state, rules, sender, out)


@apart
def act_as_root(state, rules, sender, out):
    """Find and merge concurrent roots, at each tick of the failure detector of a root.

    We add this search, because the paper leaves the root's death open. A successor keeps asking the
    root that it replaced. A root that restarted, or that lost all children, asks its successor.
    """
    b = sender.broker
    first = first_child(state.children, b, NONE)
    if state.predecessor[b] != NONE:
        state.ticks[b] += 1
        parent_search.ask(sender, state.predecessor[b], state.ticks[b], out)
    if state.asked[b] > 0:
        unknown = state.successor[b] == NONE
        if first != NONE and (unknown or state.asked[b] > 2 * (rules.missed_pings + 1)):
            state.asked[b] = 0
        elif state.successor[b] != NONE:
            state.asked[b] += 1
            parent_search.ask(sender, state.successor[b], state.asked[b], out)
    elif first != NONE:
        state.successor[b] = first


@apart
def ping(state, sender, path, r, now, out):
    """Send the failure detector's PING to a broker's parent on one of its paths."""
    b, up = sender.broker, state.parent[sender.broker]
    state.missed[b, path] += 1
    state.pings[b, path] = (state.pings[b, path] + 1) & _NUMBERS
    state.pinged_at[b, path] = now
    o = send_along(sender.circuits, sender.row, r, PING, sender.own, out)
    o.args[PATH], o.args[NUMBER] = path, state.pings[b, path]
    add_trip(state, sender, up, path, o)
    if active_path(sender, up) == r:
        o.args[PATH] += DIGEST_BIT
        o[DIGEST] = filters_digest(state.table, b, NONE)


@apart
def add_trip(state, sender, up, path, o):
    """Write the latest and the shortest round trip on a path into a PING of the failure detector,
    in seconds.
    """
    paths, s = sender.paths, place_in_row(sender.paths.peer, sender.broker, up)
    o.reals[TRIP_S] = trip_s(state, sender, up, path)
    if s >= 0:
        o.reals[LEAST_S] = paths.least_s[sender.broker, s, path]


@apart
def check_parent(state, rules, sender, now, out):
    """Check in the failure detector of a broker whether its parent answered the PINGs [uas §4.1].

    The second path replaces a dead direct path. After τ, or with both paths dead, the broker
    searches for another parent.
    """
    b = sender.broker
    up, second = state.parent[b], second_path(sender, state.parent[b])
    ping(state, sender, DIRECT, direct_path(sender, up), now, out)
    if second != NO_PLACE:
        ping(state, sender, SECOND, second, now, out)
    path = underlay_parent.path_up(state, rules, sender, rules.missed_pings)
    if path != DIRECT and state.dead_at[b] == np.inf:
        state.dead_at[b] = now
    if underlay_parent.is_cut_off(state, rules, sender):
        parent_search.search_parent(state, rules, sender, now, out)
    elif path == SECOND:
        use_path(sender, up, True, False)
        other = parent_search.fallback_after_tau(state, rules, b)
        if now - state.dead_at[b] >= rules.tau_s and other != NONE:
            state.asked[b] += 1
            parent_search.ask(sender, other, state.asked[b], out)
    else:
        state.asked[b] = 0
        both = second != NO_PLACE
        both = both and missed(state, rules, sender, SECOND) <= rules.missed_pings
        use_path(sender, up, False, both)
    above = state.grandparent[b]
    if above != NONE and direct_path(sender, above) != NO_PLACE:
        o = send(sender, GRANDCHILD, above, out)
        o[PARENT] = up
        o.args[REPLICA_DIGEST] = filters_digest(state.table, b, NONE)


@apart
def check_children(state, rules, sender, out):
    """Check in the failure detector of a broker whether PINGs of its children are missing on one
    path or on both paths.

    [uas §4.1] "The failure of node P can also be detected by the parent of P". If a child is silent
    on one path, the broker uses the other path. If a child is silent on both paths, the broker
    adopts the children of this child.
    """
    b, children = sender.broker, state.children
    most = rules.missed_pings + 1
    for s in range(children.child.shape[1]):
        child = children.child[b, s]
        if child == NONE:
            continue
        direct = children.child_silence[b, s, DIRECT] <= most
        has_second = second_path(sender, child) != NO_PLACE
        second = has_second and children.child_silence[b, s, SECOND] <= most
        path = next_hop_up(direct, second, False)  # the same two paths, downwards
        if path == CUT_OFF:
            child_changes.adopt(state, sender, child, NONE, out)
        else:
            use_path(sender, child, path == SECOND, path == DIRECT and second)


@apart
def on_ping(state, sender, message, out):
    """Answer the PING of a child in the failure detector; if the digests differ, send the child the
    filters that this broker holds for the child.
    """
    b, child, path = sender.broker, message.args[ORIGIN], message.args[PATH] & 1
    if child_changes.is_above(state, b, child):
        return
    s = add_child(state.children, b, child)
    if s < 0:
        return
    state.children.child_silence[b, s, path] = 0
    if child == state.predecessor[b]:
        state.predecessor[b] = NONE  # it is a child now, and refuses every further JOIN
    note_trip(sender, child, path, message.reals[TRIP_S], message.reals[LEAST_S])
    if path == DIRECT:
        use_direct_again(sender, child)
    o = reply(sender, message, PONG, out)
    child_changes.add_news(state, sender, o)
    o.args[PATH], o.args[NUMBER] = path, message.args[NUMBER]
    table = state.table
    has_digest = message.args[PATH] >= DIGEST_BIT
    if has_digest and filters_digest(table, b, child) != message[DIGEST]:
        o.args[PATH] += DIGEST_BIT
        send_held(table, sender, child, out)


@apart
def on_pong(state, rules, sender, message, out):
    """Handle the PONG of a parent in the failure detector: the path on which the PONG came works.
    If the digests differ, send all filters to the parent.
    """
    b, up, path = sender.broker, message.args[ORIGIN], message.args[PATH] & 1
    if up != state.parent[b]:
        return
    note_pong(state, rules, sender, message, path)
    state.missed[b, path] = 0
    underlay_parent.take_news(state, sender, message)
    if path == DIRECT:
        state.dead_at[b] = np.inf
        use_direct_again(sender, up)
    if message.args[PATH] >= DIGEST_BIT:
        send_forwarded(state.table, sender, up, out)
