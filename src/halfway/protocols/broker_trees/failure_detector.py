"""The failure detector of the underlay-aware tree: brokers PING their parent on both paths.

[uas §2] "The overlay topology should periodically monitor the node capabilities and link
qualities". We let every broker PING its parent on both of its paths in each interval, because the
paper does not state how: a path is dead after `missed_pings` without an answer; a parent likewise
counts the silence of its children. A PING also carries a digest of what the parent should hold for
the child, so that subscriptions lost on a dead path are repaired when it is back.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.prng import low_half, mixed
from halfway.protocols.broker_trees import parents
from halfway.protocols.broker_trees import underlay_messages as kinds
from halfway.protocols.broker_trees.children import NONE, add_child, age, first_child, reset_silence
from halfway.protocols.broker_trees.clients import next_tick, start_ticks
from halfway.protocols.broker_trees.decisions import CUT_OFF, DIRECT, SECOND, next_hop_up
from halfway.protocols.broker_trees.messages import (
    FILTER,
    NUMBER,
    ORIGIN,
    ROUTE,
    UNSUBSCRIBE_UP,
)
from halfway.protocols.broker_trees.peer_paths import (
    active_path,
    clear,
    note_trip,
    place_of_peer,
    send,
    use_direct_again,
    use_path,
    whole_microseconds,
)
from halfway.protocols.broker_trees.source_routes import (
    NO_NODE,
    NO_ROUTE,
    second_path,
    send_along,
)
from halfway.protocols.broker_trees.subscription_table import (
    FREE,
    is_complete,
    send_filter,
    send_name,
)

_NUMBERS = np.int32(2**31 - 1)  # of PINGs; they start again after these


@apart
def filters_digest(table, b, via):
    """A PING's digest of the filters via a child; without one, of the forwarded filters."""
    word = np.uint64(0)
    for s in range(table.filter.shape[1]):
        counts = table.forwarded[b, s] == 1 if via == NO_NODE else table.via[b, s] == via
        if counts and table.filter[b, s] != FREE and is_complete(table, b, s):
            word += mixed(np.uint64(table.filter[b, s] + 1))
    return low_half(word)


@apart
def on_start(state, rules, sender, now, out):
    """Start a broker's failure detector, at first or after a crash: ticks, a JOIN to its parent.

    A broker that lost its memory does not know whether it was up before, so it always asks.
    """
    b = sender.broker
    parents.reset_watch(state, b)
    for s in range(state.paths.peer.shape[1]):
        clear(state.paths, b, s)
    for s in range(state.children.child.shape[1]):
        reset_silence(state.children, b, s)
    start_ticks(rules, sender.own, now, out)
    if state.parent[b] == NO_NODE:
        state.asked[b] = 1
    elif state.parent[b] != parents.LEFT:
        send(sender, kinds.JOIN, state.parent[b], out)


@apart
def on_tick(state, rules, sender, now, out):
    """Check a broker's parent and children for failures once a ping interval."""
    next_tick(rules, sender.own, now, out)
    age(state.children, sender.broker, rules.missed_pings + 2)
    if state.parent[sender.broker] == NO_NODE:
        act_as_root(state, rules, sender, out)
    else:
        check_parent(state, rules, sender, now, out)
    check_children(state, rules, sender, out)


@apart
def act_as_root(state, rules, sender, out):
    """Detect and merge concurrent roots: a successor keeps asking the root that it replaced; a root
    that restarted, or lost all of its children, asks its successor."""
    b = sender.broker
    first = first_child(state.children, b, NONE)
    if state.predecessor[b] != NO_NODE:
        send(sender, kinds.JOIN, state.predecessor[b], out)
    if state.asked[b] > 0:
        if first != NONE and state.asked[b] > 2 * (rules.missed_pings + 1):
            state.asked[b] = 0
        elif state.successor[b] != NO_NODE:
            state.asked[b] += 1
            send(sender, kinds.JOIN, state.successor[b], out)
    elif first != NONE:
        state.successor[b] = first


@apart
def ping(state, sender, path, r, now, out):
    """Send the failure detector's PING to a broker's parent on one of its paths."""
    b, up = sender.broker, state.parent[sender.broker]
    state.missed[b, path] += 1
    state.pings[b, path] = (state.pings[b, path] + 1) & _NUMBERS
    state.pinged_s[b, path] = now
    o = send_along(sender.routes, r, kinds.PING, sender.own, out)
    o.args[kinds.PATH], o.args[NUMBER] = path, state.pings[b, path]
    add_trip(sender, up, path, o)
    if active_path(sender, up) == r:
        o.args[kinds.PATH] += kinds.DIGEST_BIT
        o[kinds.DIGEST] = filters_digest(state.table, b, NO_NODE)


@apart
def add_trip(sender, up, path, o):
    """Write into a PING what its sender measured of that path."""
    paths, s = sender.paths, place_of_peer(sender.paths, sender.broker, up)
    if s >= 0:
        o.reals[kinds.TRIP_S] = paths.trip_s[sender.broker, s, path]
        o.reals[kinds.LEAST_S] = paths.least_s[sender.broker, s, path]


@apart
def check_parent(state, rules, sender, now, out):
    """Check the PINGs to the parent [uas §4.1]: the direct path, else the second; after τ, or if
    both are dead, another parent."""
    b, own, routes = sender.broker, sender.own, sender.routes
    up, above = state.parent[b], state.grandparent[b]
    second = second_path(routes, own, up)
    ping(state, sender, DIRECT, routes.direct[routes.number[own], routes.number[up]], now, out)
    if second != NO_ROUTE:
        ping(state, sender, SECOND, second, now, out)
    path = parents.path_up(state, routes, b, own, rules.missed_pings)
    if path != DIRECT and state.dead_since_s[b] == np.inf:
        state.dead_since_s[b] = now
    if parents.is_cut_off(state, rules, routes, b, own):
        parents.search_parent(state, rules, sender, now, out)
    elif path == SECOND:
        use_path(sender, up, second, False)
        other = parents.fallback_after_tau(state, rules, b)
        if now - state.dead_since_s[b] >= rules.tau_s and other != NO_NODE:
            state.asked[b] += 1
            send(sender, kinds.JOIN, other, out)
    else:
        state.asked[b] = 0
        both = second != NO_ROUTE and state.missed[b, SECOND] <= rules.missed_pings
        use_path(sender, up, NO_ROUTE, both)
    if above != NO_NODE:
        o = send(sender, kinds.GRANDCHILD, above, out)
        o[kinds.PARENT] = up


@apart
def check_children(state, rules, sender, out):
    """Check the children's PINGs: reach one silent on one path by the other; replace one silent on
    both."""
    b, own, children = sender.broker, sender.own, state.children
    most = rules.missed_pings + 1
    for s in range(children.child.shape[1]):
        child = children.child[b, s]
        if child == NONE:
            continue
        route = second_path(sender.routes, own, child)
        direct = children.child_silence[b, s, DIRECT] <= most
        second = route != NO_ROUTE and children.child_silence[b, s, SECOND] <= most
        path = next_hop_up(direct, second, False)  # the same two paths, downwards
        if path == CUT_OFF:
            parents.adopt(state, sender, child, NO_NODE, out)
        elif path == SECOND:
            use_path(sender, child, route, False)
        else:
            use_path(sender, child, NO_ROUTE, second)


@apart
def on_ping(state, sender, message, out):
    """Answer the PING of a child's failure detector; if digests differ, send the table."""
    b, child, path = sender.broker, message.args[ORIGIN], message.args[kinds.PATH] & 1
    if parents.is_above(state, b, child):
        return
    s = add_child(state.children, b, child)
    if s < 0:
        return
    state.children.child_silence[b, s, path] = 0
    note_trip(sender, child, path, message.reals[kinds.TRIP_S], message.reals[kinds.LEAST_S])
    if path == DIRECT:
        use_direct_again(sender, child)
    back = sender.routes.back[message.args[ROUTE]]
    o = send_along(sender.routes, back, kinds.PONG, sender.own, out)
    parents.add_news(state, sender, o)
    o.args[kinds.PATH], o.args[NUMBER] = path, message.args[NUMBER]
    table = state.table
    has_digest = message.args[kinds.PATH] >= kinds.DIGEST_BIT
    if has_digest and filters_digest(table, b, child) != message[kinds.DIGEST]:
        o.args[kinds.PATH] += kinds.DIGEST_BIT
        for e in range(table.filter.shape[1]):
            if table.filter[b, e] != FREE and table.via[b, e] == child:
                send_name(sender, kinds.HELD, table.filter[b, e], child, out)


@apart
def on_pong(state, sender, message, out):
    """Note by a PONG that a path to the parent works; if digests differ, send all filters."""
    b, up, path = sender.broker, message.args[ORIGIN], message.args[kinds.PATH] & 1
    if up != state.parent[b]:
        return
    if message.args[NUMBER] == state.pings[b, path]:
        trip_s = whole_microseconds(message.at - state.pinged_s[b, path])
        note_trip(sender, up, path, trip_s, trip_s)
    state.missed[b, path] = 0
    parents.take_news(state, b, message)
    if path == DIRECT:
        state.dead_since_s[b] = np.inf
        use_direct_again(sender, up)
    if message.args[kinds.PATH] >= kinds.DIGEST_BIT:
        for s in range(state.table.filter.shape[1]):
            if state.table.forwarded[b, s] == 1:
                send_filter(state.table, sender, s, up, out)


@apart
def on_held(state, sender, message, out):
    """Withdraw a filter that the parent holds after a PING, unless this broker forwards it."""
    b = sender.broker
    if message.args[ORIGIN] != state.parent[b]:
        return
    for s in range(state.table.filter.shape[1]):
        if state.table.forwarded[b, s] == 1 and state.table.filter[b, s] == message[FILTER]:
            return
    send_name(sender, UNSUBSCRIBE_UP, message[FILTER], state.parent[b], out)
